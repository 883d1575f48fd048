#!/usr/bin/env python3
"""A model provider of the tests' own: the four dialects on one port, every behaviour picked by the model's name.

  upstream.py [--tls CERT KEY]     prints {"port": N} and serves 127.0.0.1 until its stdin ends

Paths: /v1/messages, /v1/chat/completions, /v1/responses, /v1beta/models/ID:streamGenerateContent (also /v1). A model's name is BEHAVIOUR or
BEHAVIOUR:ARGUMENT:
  obey (what the last message says: lines SAY WORDS are said and lines CALL NAME {...} are called; else it repeats it) | window:BYTES (obey, but refuses longer requests)
  | tired:N (obey, but refuses the first N requests that bring a result, for 0.2 s each)
  instant | think | onetool | manytools | badtool | cuttool | paced:MS | tokens:N | refuse | maxtokens
  status:CODE | r429:SECONDS | r429na | overload | context | echokey | redirect | json200 | html200
  hang | hangheaders | slowfirst:MS | stall | cut | cutcall | empty | garbage | garbagesse | errorevent | errorlate | noend | pings | flood
A conversation that a real provider would refuse is refused with 400, whatever the behaviour (rules.py).
GET /stats tells what has come: {"requests": [{"api", "model", "headers", "body"}], "open": n, "aborted": n}. POST /reset forgets it.
"""
import asyncio
import json
import os
import re
import ssl
import sys
import time
import urllib.parse

from rules import broken_rule

STATS = {"requests": [], "broken": [], "open": 0, "aborted": 0, "peak": 0, "connections": 0, "sent": 0}


class Aborted(ConnectionError):
    """We broke the connection."""


class Dialect:
    """What one API puts on the wire. Each method returns the bytes of one step."""

    def __init__(self, model):
        self.model = model
        self.number, self.items = -1, []

    def sse(self, value, name=None):
        return ((f"event: {name}\n" if name else "") + "data: " + json.dumps(value) + "\n\n").encode()


class Anthropic(Dialect):
    def begin(self):
        self.block = -1
        usage = {"input_tokens": 10, "cache_read_input_tokens": 4, "cache_creation_input_tokens": 3, "output_tokens": 1}
        return self.sse({"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant", "model": self.model, "content": [],
                                                             "stop_reason": None, "stop_sequence": None, "usage": usage}}, "message_start")

    def start(self, content):
        self.block += 1
        return self.sse({"type": "content_block_start", "index": self.block, "content_block": content}, "content_block_start")

    def delta(self, delta):
        return self.sse({"type": "content_block_delta", "index": self.block, "delta": delta}, "content_block_delta")

    def stop(self):
        return self.sse({"type": "content_block_stop", "index": self.block}, "content_block_stop")

    def think(self, text):
        return (self.start({"type": "thinking", "thinking": "", "signature": ""}) + self.delta({"type": "thinking_delta", "thinking": text}) +
                self.delta({"type": "signature_delta", "signature": "c2ln"}) + self.stop())

    def open_text(self):
        return self.start({"type": "text", "text": ""})

    def text(self, text):
        return self.delta({"type": "text_delta", "text": text})

    def close_text(self):
        return self.stop()

    def call(self, i, name, args, whole=True):
        out = self.start({"type": "tool_use", "id": f"toolu_{i}", "name": name, "input": {}})
        out += self.delta({"type": "input_json_delta", "partial_json": args})
        return out + (self.stop() if whole else b"")

    def end(self, why):
        reason = {"end": "end_turn", "tools": "tool_use", "length": "max_tokens", "refused": "refusal"}[why]
        return (self.sse({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": {"output_tokens": 5}}, "message_delta") +
                self.sse({"type": "message_stop"}, "message_stop"))

    def error(self):
        return self.sse({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "error")

    @staticmethod
    def refusal(kind, message):
        return {"type": "error", "error": {"type": kind, "message": message}}


class Chat(Dialect):
    def chunk(self, delta, why=None, usage=None):
        choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": why}]
        out = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": self.model, "choices": choices}
        if usage:
            out["usage"] = usage
        return self.sse(out)

    def begin(self):
        return self.chunk({"role": "assistant", "content": ""})

    def think(self, text):
        return self.chunk({"reasoning_content": text})

    def open_text(self):
        return b""

    def text(self, text):
        return self.chunk({"content": text})

    def close_text(self):
        return b""

    def call(self, i, name, args, whole=True):
        half = len(args) // 2
        return (self.chunk({"tool_calls": [{"index": i, "id": f"call_{i}", "type": "function", "function": {"name": name, "arguments": args[:half]}}]}) +
                self.chunk({"tool_calls": [{"index": i, "function": {"arguments": args[half:]}}]}))

    def end(self, why):
        reason = {"end": "stop", "tools": "tool_calls", "length": "length", "refused": "content_filter"}[why]
        usage = {"prompt_tokens": 17, "completion_tokens": 5, "total_tokens": 22, "prompt_tokens_details": {"cached_tokens": 4}}
        return self.chunk({}, reason) + self.chunk(None, usage=usage) + b"data: [DONE]\n\n"

    def error(self):
        return self.sse({"error": {"message": "Overloaded", "type": "server_error", "code": 503}})

    @staticmethod
    def refusal(kind, message):
        return {"error": {"message": message, "type": kind, "code": None, "param": None}}


class Responses(Dialect):
    refusal = staticmethod(Chat.refusal)

    def event(self, kind, **fields):
        self.number += 1
        return self.sse({"type": kind, "sequence_number": self.number, **fields}, kind)

    def response(self, **fields):
        return {"id": "resp_1", "object": "response", "created_at": 1, "model": self.model, "output": self.items, "parallel_tool_calls": True,
                "tool_choice": "auto", "tools": [], "status": "in_progress", **fields}

    def begin(self):
        return self.event("response.created", response=self.response())

    def done(self, item):
        index = len(self.items)
        self.items.append(item)
        return self.event("response.output_item.done", output_index=index, item=item)

    def think(self, text):
        at = len(self.items)
        out = self.event("response.output_item.added", output_index=at, item={"id": "rs_1", "type": "reasoning", "summary": []})
        part = {"type": "summary_text", "text": ""}
        out += self.event("response.reasoning_summary_part.added", item_id="rs_1", output_index=at, summary_index=0, part=part)
        out += self.event("response.reasoning_summary_text.delta", item_id="rs_1", output_index=at, summary_index=0, delta=text)
        return out + self.done({"id": "rs_1", "type": "reasoning", "summary": [{"type": "summary_text", "text": text}], "encrypted_content": "enc"})

    def open_text(self):
        self.said, self.at = "", len(self.items)
        out = self.event("response.output_item.added", output_index=self.at,
                         item={"id": "msg_1", "type": "message", "role": "assistant", "status": "in_progress", "content": []})
        return out + self.event("response.content_part.added", item_id="msg_1", output_index=self.at, content_index=0,
                                part={"type": "output_text", "text": "", "annotations": []})

    def text(self, text):
        self.said += text
        return self.event("response.output_text.delta", item_id="msg_1", output_index=self.at, content_index=0, delta=text, logprobs=[])

    def close_text(self):
        out = self.event("response.output_text.done", item_id="msg_1", output_index=self.at, content_index=0, text=self.said, logprobs=[])
        content = [{"type": "output_text", "text": self.said, "annotations": []}]
        return out + self.done({"id": "msg_1", "type": "message", "role": "assistant", "status": "completed", "content": content})

    def call(self, i, name, args, whole=True):
        at, item = len(self.items), {"id": f"fc_{i}", "type": "function_call", "call_id": f"call_{i}", "name": name, "arguments": "", "status": "in_progress"}
        out = self.event("response.output_item.added", output_index=at, item=item)
        out += self.event("response.function_call_arguments.delta", item_id=item["id"], output_index=at, delta=args)
        if not whole:
            return out
        out += self.event("response.function_call_arguments.done", item_id=item["id"], output_index=at, name=name, arguments=args)
        return out + self.done({**item, "arguments": args, "status": "completed"})

    def end(self, why):
        usage = {"input_tokens": 17, "input_tokens_details": {"cached_tokens": 4}, "output_tokens": 5, "output_tokens_details": {"reasoning_tokens": 1}, "total_tokens": 22}
        if why in ("length", "refused"):
            reason = {"length": "max_output_tokens", "refused": "content_filter"}[why]
            return self.event("response.incomplete", response=self.response(status="incomplete", incomplete_details={"reason": reason}, usage=usage))
        return self.event("response.completed", response=self.response(status="completed", usage=usage))

    def error(self):
        return self.event("error", code="server_error", message="Overloaded", param=None)


class Google(Dialect):
    def chunk(self, parts, why=None, usage=None):
        candidate = {"content": {"parts": parts, "role": "model"}, "index": 0}
        if why:
            candidate["finishReason"] = why
        out = {"candidates": [candidate], "modelVersion": self.model, "responseId": "r1", "usageMetadata": usage or {"promptTokenCount": 17, "totalTokenCount": 17}}
        return ("data: " + json.dumps(out) + "\r\n\r\n").encode()

    def begin(self):
        return b""

    def think(self, text):
        return self.chunk([{"text": text, "thought": True}])

    def open_text(self):
        return b""

    def text(self, text):
        return self.chunk([{"text": text}])

    def close_text(self):
        return b""

    def call(self, i, name, args, whole=True):
        try:
            return self.chunk([{"functionCall": {"name": name, "args": json.loads(args)}}])
        except ValueError:  # what Google does with a call that it can't read
            self.malformed = True
            return b""

    def end(self, why):
        if getattr(self, "malformed", False):
            return self.chunk([], "MALFORMED_FUNCTION_CALL")
        usage = {"promptTokenCount": 17, "candidatesTokenCount": 4, "thoughtsTokenCount": 1, "cachedContentTokenCount": 4, "totalTokenCount": 22}
        return self.chunk([{"text": ""}], {"end": "STOP", "tools": "STOP", "length": "MAX_TOKENS", "refused": "SAFETY"}[why], usage)

    def error(self):
        return self.sse({"error": {"code": 503, "message": "Overloaded", "status": "UNAVAILABLE"}})

    @staticmethod
    def refusal(kind, message):
        return {"error": {"code": 400, "message": message, "status": kind.upper()}}


async def answer(d, behaviour, argument, request, reply, send, abort):
    """One answer. `reply(status, headers, body)` or, after it with body None, `send(bytes)` step by step."""
    stream = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}
    refuse = lambda status, kind, message, **headers: reply(status, {"content-type": "application/json", **headers}, json.dumps(d.refusal(kind, message)).encode())
    if rule := broken_rule(request["api"], request["body"]):
        STATS["broken"].append(rule)
        return await refuse(400, "invalid_request_error", rule)
    if behaviour == "status":
        return await refuse(int(argument), "api_error", "as asked")
    if behaviour == "r429":
        return await refuse(429, "rate_limit_error", "Rate limit reached", **{"retry-after": argument or "7"})
    if behaviour == "r429na":
        return await refuse(429, "x", "slow down")
    if behaviour == "overload":
        return await refuse(503, "overloaded_error", "The server is overloaded")
    if behaviour == "context":
        return await refuse(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum")
    if behaviour == "echokey":
        key = request["headers"].get("x-api-key") or request["headers"].get("x-goog-api-key") or request["headers"].get("authorization", "")
        return await refuse(401, "authentication_error", "wrong key: " + key)
    if behaviour == "redirect":
        return await reply(307, {"location": argument and f"http://127.0.0.1:{argument}/v1/messages" or "/elsewhere"}, b"")
    if behaviour == "json200":
        return await reply(200, {"content-type": "application/json"}, json.dumps(d.refusal("overloaded_error", "Overloaded")).encode())
    if behaviour == "html200":
        return await reply(200, {"content-type": "text/html"}, b"<html>Welcome to this hotel's network</html>")
    if behaviour == "hang":
        return await asyncio.sleep(3600)
    if behaviour == "window" and len(json.dumps(request["body"])) > int(argument) and "Write its summary." not in request["last"]:
        return await refuse(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum")
    if behaviour == "tired" and request["has_result"] and STATS.setdefault("tired", 0) < int(argument):
        STATS["tired"] += 1
        return await refuse(429, "rate_limit_error", "Rate limit reached", **{"retry-after": "0.2"})
    await reply(200, stream, None)
    if behaviour == "hangheaders":
        return await asyncio.sleep(3600)
    if behaviour == "empty":
        return
    if behaviour == "garbage":
        return await send(bytes((i * 7919 + i // 251) % 256 for i in range(4096)))
    if behaviour == "garbagesse":
        return await send(b"data: {not json at all\n\ndata: [[[\n\n")
    if behaviour == "slowfirst":
        await asyncio.sleep(int(argument) / 1000)
    if behaviour == "errorevent":
        return await send(d.error())
    await send(d.begin())
    if behaviour == "pings":
        while True:
            await send(b": still here\n\n")
            await asyncio.sleep(0.02)
    if behaviour == "think":
        await send(d.think("Let me see."))
    if behaviour in ("onetool", "manytools", "badtool", "cuttool", "cutcall") and not request["has_result"]:
        count = 5 if behaviour == "manytools" else 1
        args = '{"command": "tru' if behaviour in ("badtool", "cuttool") else '{"command":"true"}'
        for i in range(count):
            await send(d.call(i, "exec", args, behaviour != "cutcall"))
        if behaviour == "cutcall":
            return await abort()
        return await send(d.end("length" if behaviour == "cuttool" else "tools"))
    if behaviour in ("obey", "window", "tired"):
        calls = [] if request["has_result"] else re.findall(r"^CALL (\S+) (\{.*\})$", request["last"], re.M)
        words = [] if request["has_result"] else re.findall(r"^SAY (.*)$", request["last"], re.M)
        if calls and words:
            await send(d.open_text())
            await send(d.text("\n".join(words)))
            await send(d.close_text())
        for i, (name, args) in enumerate(calls):
            await send(d.call(i, name, args))
        if calls:
            return await send(d.end("tools"))
        said = "what was said, in short" if "Write its summary." in request["last"] else "you said: " + request["last"][:2000]
        await send(d.open_text())
        await send(d.text(said))
        await send(d.close_text())
        return await send(d.end("end"))
    await send(d.open_text())
    if behaviour == "tokens":
        for i in range(int(argument)):
            await send(d.text(f"tok{i} "))
    elif behaviour == "paced":
        for i in range(100):
            await send(d.text(f"tok{i} "))
            await asyncio.sleep(int(argument) / 1000)
    elif behaviour == "flood":
        piece = d.text("x" * 4096)
        while True:
            await send(piece)
    else:
        await send(d.text("ok"))
    if behaviour == "stall":
        return await asyncio.sleep(3600)
    if behaviour == "cut":
        return await abort()
    if behaviour == "errorlate":
        return await send(d.error())
    if behaviour == "noend":
        return
    await send(d.close_text())
    await send(d.end({"refuse": "refused", "maxtokens": "length"}.get(behaviour, "end")))


def dialect_of(path, body):
    if path == "/v1/messages":
        return "anthropic-messages", Anthropic, body.get("model", "")
    if path == "/v1/chat/completions":
        return "openai-completions", Chat, body.get("model", "")
    if path == "/v1/responses":
        return "openai-responses", Responses, body.get("model", "")
    google = re.fullmatch("/v1(beta)?/models/(.*):streamGenerateContent", path)
    if google:
        return "google-generative-ai", Google, urllib.parse.unquote(google[2])
    return None, None, None


def has_result(body):
    text = json.dumps((body.get("messages") or body.get("contents") or body.get("input") or [])[-1:])
    return any(word in text for word in ('"tool_result"', '"role": "tool"', '"function_call_output"', '"functionResponse"', '"function_response"'))


def texts(value):
    """All texts in a message, in whatever dialect."""
    if isinstance(value, list):
        return [text for item in value for text in texts(item)]
    if isinstance(value, dict):
        return [text for key in value for text in ([value[key]] if key in ("text", "content", "output", "error") and isinstance(value[key], str) else texts(value[key]))]
    return []


async def serve(reader, writer):
    seen = []
    try:
        while await one(reader, writer, seen):
            pass
    except (asyncio.IncompleteReadError, ConnectionError, asyncio.LimitOverrunError):
        pass
    finally:
        writer.close()


async def one(reader, writer, seen):
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, path, _ = head[0].split(" ")
    headers = {k.lower(): v.strip() for k, v in (line.split(":", 1) for line in head[1:] if ":" in line)}
    raw = await reader.readexactly(int(headers.get("content-length", "0")))
    if path in ("/stats", "/reset"):
        if path == "/reset":
            STATS.update(requests=[], broken=[], tired=0, aborted=0, peak=0, connections=0, sent=0)
        text = json.dumps(STATS).encode()
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(text) + text)
        await writer.drain()
        return True
    STATS["connections"] += not seen  # with a request for a model
    seen.append(path)
    body = json.loads(raw or b"{}")
    api, make, model = dialect_of(path.split("?")[0], body)
    STATS["requests"].append({"api": api, "model": model, "path": path, "headers": headers, "body": body, "at": time.monotonic()})
    if make is None:
        print("no such path:", path, file=sys.stderr)
        writer.write(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")
        await writer.drain()
        return True
    chunked = False

    async def reply(status, fields, content):
        nonlocal chunked
        chunked = content is None
        lines = [f"HTTP/1.1 {status} X"] + [f"{k}: {v}" for k, v in fields.items()]
        lines += ["transfer-encoding: chunked"] if chunked else [f"content-length: {len(content)}"]
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + (content or b""))
        await writer.drain()

    async def send(data):
        if data:
            STATS["sent"] += len(data)
            writer.write(b"%x\r\n" % len(data) + data + b"\r\n")
            await writer.drain()

    async def abort():
        await asyncio.sleep(0.2)  # what was sent is there before the connection breaks
        writer.transport.abort()
        raise Aborted

    behaviour, _, argument = model.partition(":")
    STATS["open"] += 1
    STATS["peak"] = max(STATS["peak"], STATS["open"])
    request = {"api": api, "headers": headers, "body": body, "has_result": has_result(body),
               "last": "\n".join(texts((body.get("messages") or body.get("contents") or body.get("input") or [])[-1:]))}
    work = asyncio.ensure_future(answer(make(model), behaviour, argument, request, reply, send, abort))
    gone = asyncio.ensure_future(reader.read(1))  # a client sends nothing while it waits
    try:
        await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            STATS["aborted"] += 1
            work.cancel()
            return False
        await work
    except Aborted:
        raise
    except ConnectionError:  # noticed while writing
        STATS["aborted"] += 1
        raise
    finally:
        STATS["open"] -= 1
        if gone.done() and not gone.cancelled() and gone.exception() is None:
            reader._buffer[0:0] = gone.result()  # the next request was faster than we
        else:
            gone.cancel()
            try:
                await gone
            except (asyncio.CancelledError, ConnectionError):
                pass
    if chunked:
        writer.write(b"0\r\n\r\n")
        await writer.drain()
    return True


async def main():
    context = None
    if sys.argv[1:2] == ["--tls"]:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[2], sys.argv[3])
    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context, limit=1 << 20, backlog=1024)
    print(json.dumps({"port": server.sockets[0].getsockname()[1]}), flush=True)
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    os._exit(0)  # without a word about the connections that are still open


asyncio.run(main())
