# Run by beige_embed: writes a .cpp with the text of IN as a raw string.
file(READ "${IN}" text)
if(text MATCHES "\\)beige_text\"")
  message(FATAL_ERROR "${IN} contains the delimiter of its own raw string")
endif()
file(WRITE "${OUT}" "#include \"${HEADER}\"\n\nnamespace beige {\n\nstd::string_view ${FUNCTION}() {\n  return R\"beige_text(${text})beige_text\";\n}\n\n}  // namespace beige\n")
