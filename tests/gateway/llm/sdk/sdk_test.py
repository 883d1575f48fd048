#!/usr/bin/env python3
"""The makers' own SDKs against the scripted provider of our tests, so that what it speaks is no fiction of ours.

  sdk_test.py VENV    (a path) makes the virtual environment VENV with requirements.txt when it is not there, and runs the tests in it
"""
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[2] / "support"))
import pinned_venv  # noqa: E402

PARAMETERS = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}


class Upstream(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.child = subprocess.Popen([sys.executable, HERE.parent / "upstream/upstream.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        cls.base = f"http://127.0.0.1:{json.loads(cls.child.stdout.readline())['port']}"

    @classmethod
    def tearDownClass(cls):
        cls.child.stdin.close()
        cls.child.wait()
        cls.child.stdout.close()


class AnthropicTest(Upstream):
    TOOLS = [{"name": "exec", "description": "Runs", "input_schema": PARAMETERS}]

    def client(self):
        import anthropic
        return anthropic.Anthropic(base_url=self.base, api_key="k", max_retries=0)

    def ask(self, model, messages):
        with self.client().messages.stream(model=model, max_tokens=100, messages=messages, tools=self.TOOLS) as stream:
            return "".join(stream.text_stream), stream.get_final_message()

    def test_streams_text_and_usage(self):
        text, message = self.ask("tokens:50", [{"role": "user", "content": "Hi"}])
        self.assertEqual(text, "".join(f"tok{i} " for i in range(50)))
        self.assertEqual((message.usage.input_tokens, message.usage.cache_read_input_tokens, message.usage.output_tokens, message.stop_reason), (10, 4, 5, "end_turn"))

    def test_thinks(self):
        _, message = self.ask("think", [{"role": "user", "content": "Hi"}])
        self.assertEqual((message.content[0].thinking, message.content[0].signature), ("Let me see.", "c2ln"))

    def test_calls_tools_and_takes_results(self):
        messages = [{"role": "user", "content": "Hi"}]
        _, message = self.ask("manytools", messages)
        calls = [block for block in message.content if block.type == "tool_use"]
        self.assertEqual([call.input for call in calls], [{"command": "true"}] * 5)
        self.assertEqual(message.stop_reason, "tool_use")
        results = [{"type": "tool_result", "tool_use_id": call.id, "content": "done"} for call in calls]
        text, _ = self.ask("manytools", messages + [{"role": "assistant", "content": message.content}, {"role": "user", "content": results}])
        self.assertEqual(text, "ok")

    def test_errors(self):
        import anthropic
        for model, kind in (("r429:7", anthropic.RateLimitError), ("status:401", anthropic.AuthenticationError), ("overload", anthropic.InternalServerError),
                            ("errorevent", anthropic.APIStatusError)):
            with self.assertRaises(kind, msg=model):
                self.ask(model, [{"role": "user", "content": "Hi"}])


class ChatTest(Upstream):
    TOOLS = [{"type": "function", "function": {"name": "exec", "description": "Runs", "parameters": PARAMETERS}}]

    def client(self):
        import openai
        return openai.OpenAI(base_url=self.base + "/v1", api_key="k", max_retries=0)

    def ask(self, model, messages):
        text, calls, usage, reason = "", {}, None, None
        for chunk in self.client().chat.completions.create(model=model, messages=messages, tools=self.TOOLS, stream=True, stream_options={"include_usage": True}):
            usage = chunk.usage or usage
            for choice in chunk.choices:
                text += choice.delta.content or ""
                reason = choice.finish_reason or reason
                for call in choice.delta.tool_calls or []:
                    known = calls.setdefault(call.index, {"id": call.id, "type": "function", "function": {"name": call.function.name, "arguments": ""}})
                    known["function"]["arguments"] += call.function.arguments
        return text, list(calls.values()), usage, reason

    def test_streams_text_and_usage(self):
        text, _, usage, reason = self.ask("tokens:50", [{"role": "user", "content": "Hi"}])
        self.assertEqual(text, "".join(f"tok{i} " for i in range(50)))
        self.assertEqual((usage.prompt_tokens, usage.prompt_tokens_details.cached_tokens, usage.completion_tokens, reason), (17, 4, 5, "stop"))

    def test_calls_tools_and_takes_results(self):
        messages = [{"role": "user", "content": "Hi"}]
        _, calls, _, reason = self.ask("manytools", messages)
        self.assertEqual([json.loads(call["function"]["arguments"]) for call in calls], [{"command": "true"}] * 5)
        self.assertEqual(reason, "tool_calls")
        messages += [{"role": "assistant", "tool_calls": calls}] + [{"role": "tool", "tool_call_id": call["id"], "content": "done"} for call in calls]
        self.assertEqual(self.ask("manytools", messages)[0], "ok")

    def test_errors(self):
        import openai
        for model, kind in (("r429:7", openai.RateLimitError), ("status:401", openai.AuthenticationError), ("overload", openai.InternalServerError),
                            ("errorevent", openai.APIError)):
            with self.assertRaises(kind, msg=model):
                self.ask(model, [{"role": "user", "content": "Hi"}])


class ResponsesTest(ChatTest):
    TOOLS = [{"type": "function", "name": "exec", "description": "Runs", "parameters": PARAMETERS, "strict": False}]

    def stream(self, model, items):
        with self.client().responses.stream(model=model, input=items, tools=self.TOOLS, store=False) as stream:
            text = "".join(event.delta for event in stream if event.type == "response.output_text.delta")
            return text, stream.get_final_response()

    def test_streams_text_and_usage(self):
        text, response = self.stream("tokens:50", "Hi")
        self.assertEqual(text, "".join(f"tok{i} " for i in range(50)))
        self.assertEqual(response.output_text, text)
        self.assertEqual((response.usage.input_tokens, response.usage.input_tokens_details.cached_tokens, response.usage.output_tokens), (17, 4, 5))

    def test_thinks(self):
        _, response = self.stream("think", "Hi")
        self.assertEqual((response.output[0].type, response.output[0].encrypted_content), ("reasoning", "enc"))

    def test_calls_tools_and_takes_results(self):
        items = [{"role": "user", "content": "Hi"}]
        _, response = self.stream("manytools", items)
        calls = [item for item in response.output if item.type == "function_call"]
        self.assertEqual([json.loads(call.arguments) for call in calls], [{"command": "true"}] * 5)
        items += [{"type": "function_call", "call_id": call.call_id, "name": call.name, "arguments": call.arguments} for call in calls]
        items += [{"type": "function_call_output", "call_id": call.call_id, "output": "done"} for call in calls]
        self.assertEqual(self.stream("manytools", items)[0], "ok")

    def test_errors(self):
        import openai
        with self.assertRaises(openai.RateLimitError):
            self.stream("r429:7", "Hi")


class GoogleTest(Upstream):
    def ask(self, model, contents):
        from google import genai
        from google.genai import types
        client = genai.Client(api_key="k", http_options=types.HttpOptions(base_url=self.base))
        declaration = types.FunctionDeclaration(name="exec", description="Runs", parameters_json_schema=PARAMETERS)
        config = types.GenerateContentConfig(tools=[types.Tool(function_declarations=[declaration])],
                                             automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True))
        return list(client.models.generate_content_stream(model=model, contents=contents, config=config))

    @staticmethod
    def parts(chunks):
        return [part for chunk in chunks for candidate in chunk.candidates or [] for part in candidate.content.parts or []]

    def test_streams_text_and_usage(self):
        chunks = self.ask("tokens:50", "Hi")
        self.assertEqual("".join(part.text or "" for part in self.parts(chunks)), "".join(f"tok{i} " for i in range(50)))
        usage = chunks[-1].usage_metadata
        self.assertEqual((usage.prompt_token_count, usage.cached_content_token_count, usage.candidates_token_count, usage.thoughts_token_count), (17, 4, 4, 1))

    def test_thinks(self):
        self.assertEqual([part.text for part in self.parts(self.ask("think", "Hi")) if part.thought], ["Let me see."])

    def test_calls_tools_and_takes_results(self):
        from google.genai import types
        calls = [part for part in self.parts(self.ask("manytools", "Hi")) if part.function_call]
        self.assertEqual([call.function_call.args for call in calls], [{"command": "true"}] * 5)
        results = [types.Part.from_function_response(name="exec", response={"output": "done"}) for _ in calls]
        contents = [types.Content(role="user", parts=[types.Part.from_text(text="Hi")]), types.Content(role="model", parts=calls), types.Content(role="user", parts=results)]
        self.assertEqual("".join(part.text or "" for part in self.parts(self.ask("manytools", contents))), "ok")

    def test_errors(self):
        from google.genai import errors
        for model, status in (("r429:7", 429), ("status:401", 401), ("overload", 503)):
            with self.assertRaises(errors.APIError, msg=model) as caught:
                self.ask(model, "Hi")
            self.assertEqual(caught.exception.code, status)


if __name__ == "__main__":
    if len(sys.argv) == 2 and "/" in sys.argv[1]:
        pinned_venv.run_again_in(pathlib.Path(sys.argv[1]).resolve(), HERE / "requirements.txt", [__file__])
    with contextlib.suppress(KeyError):
        del os.environ["GOOGLE_API_KEY"]
    unittest.main(verbosity=2)
