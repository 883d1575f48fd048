#include "gateway/http/openapi.h"

namespace beige {

std::string_view OpenApiDocument() {
  static constexpr std::string_view kDocument = R"json({
  "openapi": "3.0.3",
  "info": {"title": "Beige gateway", "version": "v1"},
  "security": [{"token": []}],
  "paths": {
    "/healthz": {"get": {"summary": "The process answers", "security": [], "responses": {"200": {"description": "ok"}}}},
    "/readyz": {"get": {"summary": "Grants are in force", "security": [], "responses": {"200": {"description": "ok"}, "503": {"$ref": "#/components/responses/Error"}}}},
    "/v1/agents": {"get": {"summary": "All agents (scope read)", "responses": {"200": {"$ref": "#/components/responses/Agents"}, "default": {"$ref": "#/components/responses/Error"}}}},
    "/v1/namespaces/{namespace}/agents": {
      "parameters": [{"$ref": "#/components/parameters/namespace"}],
      "get": {"summary": "Agents of one namespace (scope read)", "responses": {"200": {"$ref": "#/components/responses/Agents"}, "default": {"$ref": "#/components/responses/Error"}}}},
    "/v1/namespaces/{namespace}/agents/{name}": {
      "parameters": [{"$ref": "#/components/parameters/namespace"}, {"$ref": "#/components/parameters/name"}],
      "get": {"summary": "One agent (scope read)", "responses": {"200": {"description": "the agent", "content": {"application/json": {"schema": {"type": "object"}}}}, "default": {"$ref": "#/components/responses/Error"}}}},
    "/v1/namespaces/{namespace}/agents/{name}/exec": {
      "parameters": [{"$ref": "#/components/parameters/namespace"}, {"$ref": "#/components/parameters/name"}],
      "post": {
        "summary": "Runs a command in the agent's sandbox and waits for its end (scope exec); closing the connection cancels it",
        "requestBody": {"required": true, "content": {"application/json": {"schema": {"$ref": "#/components/schemas/ExecRequest"}}}},
        "responses": {"200": {"description": "the command has ended", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/ExecResult"}}}}, "default": {"$ref": "#/components/responses/Error"}}}},
    "/v1/namespaces/{namespace}/agents/{name}/policy/{tool}": {
      "parameters": [{"$ref": "#/components/parameters/namespace"}, {"$ref": "#/components/parameters/name"}, {"name": "tool", "in": "path", "required": true, "schema": {"type": "string"}}],
      "get": {"summary": "What would be decided about a call of that tool, and by which rule (scope read); nothing is run or recorded", "responses": {"200": {"description": "the decision", "content": {"application/json": {"schema": {"$ref": "#/components/schemas/PolicyAnswer"}}}}, "default": {"$ref": "#/components/responses/Error"}}}},
    "/v1/tools": {"get": {"summary": "Configured tools (scope read)", "responses": {"200": {"description": "items"}, "default": {"$ref": "#/components/responses/Error"}}}},
    "/v1/models": {"get": {"summary": "Configured models and how they stand (scope read)", "responses": {"200": {"$ref": "#/components/responses/Models"}, "default": {"$ref": "#/components/responses/Error"}}}},
    "/v1/skills": {"get": {"summary": "Configured skills (scope read)", "responses": {"200": {"description": "items"}, "default": {"$ref": "#/components/responses/Error"}}}}
  },
  "components": {
    "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
    "parameters": {
      "namespace": {"name": "namespace", "in": "path", "required": true, "schema": {"type": "string"}},
      "name": {"name": "name", "in": "path", "required": true, "schema": {"type": "string"}}},
    "responses": {
      "Agents": {"description": "agents", "content": {"application/json": {"schema": {"type": "object", "properties": {"items": {"type": "array", "items": {"type": "object"}}}}}}},
      "Models": {"description": "models", "content": {"application/json": {"schema": {"type": "object", "required": ["items"], "properties": {"items": {"type": "array", "items": {"type": "object",
        "required": ["name", "api", "health"], "properties": {
          "name": {"type": "string", "description": "PROVIDER/ID"},
          "api": {"type": "string"}, "contextWindow": {"type": "integer"}, "maxTokens": {"type": "integer"},
          "input": {"type": "array", "items": {"type": "string", "enum": ["text", "image"]}},
          "cost": {"type": "object", "description": "US dollars for a million tokens", "additionalProperties": {"type": "number"}},
          "health": {"type": "object", "required": ["state"], "properties": {
            "state": {"type": "string", "enum": ["ready", "cooling"]}, "why": {"type": "string"}, "message": {"type": "string"}, "retryAfterMs": {"type": "integer"}}},
          "running": {"type": "integer", "description": "requests of the provider"}, "waiting": {"type": "integer"}}}}}}}}},
      "Error": {"description": "why not", "content": {"application/json": {"schema": {"type": "object", "required": ["error"], "properties": {"error": {"type": "object", "required": ["code", "message"],
        "properties": {"code": {"type": "string"}, "message": {"type": "string"}, "field": {"type": "string"}}}}}}}}},
    "schemas": {
      "ExecRequest": {"type": "object", "additionalProperties": false, "required": ["command"], "properties": {
        "command": {"type": "array", "minItems": 1, "items": {"type": "string"}},
        "stdin": {"type": "string"}, "stdinEncoding": {"type": "string", "enum": ["utf8", "base64"], "default": "utf8"},
        "timeout": {"type": "string", "example": "30s"},
        "env": {"type": "object", "additionalProperties": {"type": "string"}},
        "cwd": {"type": "string", "description": "inside the sandbox; a relative one is taken from /workspace"}}},
      "PolicyAnswer": {"type": "object", "required": ["tool", "kind", "decision", "rule", "generation"], "properties": {
        "tool": {"type": "string"}, "kind": {"type": "string", "enum": ["tool", "exec", "core_tool"]},
        "decision": {"type": "string", "enum": ["allow", "deny"]}, "rule": {"type": "string"}, "reason": {"type": "string"}, "exitCode": {"type": "integer"},
        "exists": {"type": "boolean"}, "granted": {"type": "boolean"}, "offered": {"type": "boolean"}, "notOffered": {"type": "string"},
        "generation": {"type": "integer"}}},
      "ExecResult": {"type": "object", "required": ["exitCode", "signal", "stdout", "stderr", "encoding"], "properties": {
        "exitCode": {"type": "integer", "description": "128+n when killed by signal n, 124 when it took too long"},
        "signal": {"type": "integer", "nullable": true},
        "stdout": {"type": "string"}, "stderr": {"type": "string"},
        "encoding": {"type": "string", "enum": ["utf8", "base64"]},
        "truncated": {"type": "boolean", "description": "more than 8 MiB of one stream came"},
        "error": {"type": "string"}}}}
  }
})json";
  return kDocument;
}

}  // namespace beige
