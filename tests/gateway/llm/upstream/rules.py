"""What real providers refuse a conversation for, per dialect: broken_rule(api, body) is a sentence, or None.

Sources: the error texts and references of the Anthropic messages API, of OpenAI's chat completions and responses, and of Google's
generateContent. All of these are answered with status 400, and with it a conversation is lost for good.
"""
import re

NAME = re.compile(r"[A-Za-z0-9_-]{1,64}\Z")


def _anthropic(body):
    open_calls = []
    for i, message in enumerate(body.get("messages", [])):
        blocks = message["content"] if isinstance(message["content"], list) else [{"type": "text", "text": message["content"]}]
        if not blocks:
            return f"messages.{i}: all messages must have non-empty content"
        for block in blocks:
            if block["type"] == "text" and not block["text"].strip():
                return f"messages.{i}: text content blocks must contain non-whitespace text"
            if block["type"] == "tool_use" and not NAME.match(block["name"]):
                return f"messages.{i}: tool_use.name: string should match pattern"
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if [block["type"] for block in blocks[:len(results)]].count("tool_result") != len(results):
            return f"messages.{i}: tool_result blocks must come before other content"
        if sorted(results) != sorted(open_calls):
            return f"messages.{i}: tool_use ids {open_calls} want tool_result blocks immediately after, got {results}"
        open_calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
    return f"tool_use ids {open_calls} were found without tool_result blocks" if open_calls else None


def _chat(body):
    open_calls = []
    for i, message in enumerate(body.get("messages", [])):
        if message["role"] == "tool":
            if message["tool_call_id"] not in open_calls:
                return f"messages.{i}: messages with role 'tool' must be a response to a preceding message with 'tool_calls'"
            open_calls.remove(message["tool_call_id"])
            continue
        if open_calls:
            return f"messages.{i}: an assistant message with 'tool_calls' must be followed by tool messages; missing: {open_calls}"
        open_calls = [call["id"] for call in message.get("tool_calls", [])]
        if any(not NAME.match(call["function"]["name"]) for call in message.get("tool_calls", [])):
            return f"messages.{i}: tool_calls.function.name does not match the pattern"
    return f"tool_calls without a response: {open_calls}" if open_calls else None


def _responses(body):
    calls, done = [], []
    for i, item in enumerate(body.get("input", []) if isinstance(body.get("input"), list) else []):
        if item.get("type") == "function_call":
            calls.append(item["call_id"])
            if not NAME.match(item["name"]):
                return f"input.{i}.name does not match the pattern"
        if item.get("type") == "function_call_output":
            if item["call_id"] not in calls:
                return f"input.{i}: no tool call found for function call output {item['call_id']}"
            done.append(item["call_id"])
    missing = [call for call in calls if call not in done]
    return f"no tool output found for function call {missing}" if missing else None


def _google(body):
    open_calls = 0
    for i, content in enumerate(body.get("contents", [])):
        parts = content.get("parts", [])
        if not parts:
            return f"contents.{i}: parts must not be empty"
        # The SDKs and we write camel case; snake case is taken too.
        answers = sum("functionResponse" in part or "function_response" in part for part in parts)
        if answers != open_calls:
            return f"contents.{i}: the number of function response parts ({answers}) must equal that of the function call parts ({open_calls})"
        open_calls = sum("functionCall" in part or "function_call" in part for part in parts)
    return "a function call without a response" if open_calls else None


RULES = {"anthropic-messages": _anthropic, "openai-completions": _chat, "openai-responses": _responses, "google-generative-ai": _google}


def _broken_picture(value):
    """A picture whose bytes are not what they say, in whatever dialect: the tests' broken one begins with \\x89PNG and ends there."""
    if isinstance(value, list):
        return any(_broken_picture(item) for item in value)
    if isinstance(value, dict):
        return value.get("data") == "iVBORw==" or any(_broken_picture(item) for item in value.values())
    return isinstance(value, str) and value.endswith("base64,iVBORw==")


def broken_rule(api, body):
    if _broken_picture(body):
        return "Could not process image"
    return RULES[api](body)
