#include "cli/app/command_line.h"

int main(int argc, char** argv) { return beige::cli::RunCommandLine(argc, argv); }
