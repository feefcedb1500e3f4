/**
 * Creates requests of a task on each wire, in agents' form, with details that are hard to
 * preserve.
 */
import type { WireName } from './wire';

/** Reads of one file are similar, so that there is something to condense. */
const makeToolOutput = (step: number): string =>
  Array.from({ length: 60 }, (_, line) => `${line + 1}: const value${step % 7}_${line} = "é \\" ${line * 31}";`).join(
    '\n',
  );

const makeCallArguments = (step: number): string =>
  `{"file_path":"/src/file${step % 7}.ts", "limit":12345678901234567890,"limit":1e400,"\\u0061":"\\ud83d\\ude00"}`;

/** Raw JSON of a task's steps on each wire. */
const BODY_BY_WIRE: Readonly<Record<WireName, (steps: readonly number[]) => string>> = {
  anthropic: (steps) =>
    `{"model":"claude-sonnet-4-5","max_tokens":8192,"unknown":1e400,"system":[{"type":"text","text":"You are an agent.","cache_control":{"type":"ephemeral"}}],
 "tools":[{"name":"Read","input_schema":{"type":"object"}}],"messages":[{"role":"user","content":"Look at the files"},${steps
   .map(
     (step) =>
       `{"role":"assistant","content":[{"type":"thinking","thinking":"Step ${step}","signature":"c2ln${step}"},{"type":"text","text":"Step ${step}."},{"type":"tool_use","id":"toolu_${step}","name":"Read","input":${makeCallArguments(step)}}]},
{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_${step}","content":${step % 2 === 0 ? JSON.stringify(makeToolOutput(step)) : `[{"type":"text","text":${JSON.stringify(makeToolOutput(step))}}]`}${step === steps.at(-1) ? ',"cache_control":{"type":"ephemeral"}' : ''}}]}`,
   )
   .join(',')}],"stream":true}`,
  chat: (steps) =>
    `{"model":"some-model","stream":true,"stream_options":{"include_usage":true},"n":1.0,"tools":[{"type":"function","function":{"name":"Read"}}],"messages":[{"role":"system","content":"You are an agent."},{"role":"user","content":[{"type":"text","text":"Look at the files"}]},${steps
      .map(
        (step) =>
          `{"role":"assistant","content":null,"reasoning_content":"Hm ${step}","tool_calls":[{"id":"call_${step}","type":"function","function":{"name":"Read","arguments":${JSON.stringify(makeCallArguments(step))}}}]} , {"role":"tool","tool_call_id":"call_${step}","content":${JSON.stringify(makeToolOutput(step))}}`,
      )
      .join(',')}]}`,
  responses: (steps) =>
    `{"model":"gpt-5.1-codex","stream":true,"store":false,"include":["reasoning.encrypted_content"],"prompt_cache_key":"k","tools":[{"type":"function","name":"Read"}],"input":[{"type":"message","role":"developer","content":[{"type":"input_text","text":"You are an agent."}]},{"role":"user","content":[{"type":"input_text","text":"Look at the files"}]},${steps
      .map(
        (step) =>
          `{"type":"reasoning","id":"rs_${step}","summary":[],"encrypted_content":"Z0FB${step}"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Step ${step}."}]},${step % 3 === 0 ? `{"type":"custom_tool_call","call_id":"call_${step}","name":"exec","input":"text(${step})"},{"type":"custom_tool_call_output","call_id":"call_${step}","output":[{"type":"input_text","text":${JSON.stringify(makeToolOutput(step))}}]}` : `{"type":"function_call","id":"fc_${step}","call_id":"call_${step}","name":"Read","arguments":${JSON.stringify(makeCallArguments(step))}},{"type":"function_call_output","call_id":"call_${step}","output":${JSON.stringify(makeToolOutput(step))}}`}`,
      )
      .join(',\n')}]}`,
  gemini: (steps) =>
    `{"systemInstruction":{"parts":[{"text":"You are an agent."}]},"tools":[{"functionDeclarations":[{"name":"Read"}]}],"generationConfig":{"temperature":1.0},"contents":[{"role":"user","parts":[{"text":"Look at the files"}]},${steps
      .map(
        (step) =>
          `{"role":"model","parts":[{"text":"Hm","thought":true},{"text":"Step ${step}."},{"functionCall":{"name":"Read","args":${makeCallArguments(step)}},"thoughtSignature":"c2ln${step}"}]},{"parts":[{"functionResponse":{"name":"Read","id":"Read_${step}","response":{${step % 2 === 0 ? `"name":"Read","content":` : `"output":`}${JSON.stringify(makeToolOutput(step))}}}}],"role":"user"}`,
      )
      .join(',')}]}`,
};

/** Creates a request body. A body with more steps starts with the shorter one. */
export const makeRequestBody = (wire: WireName, steps: number): string =>
  BODY_BY_WIRE[wire](Array.from({ length: steps }, (_, step) => step));

export const PATH_BY_WIRE: Readonly<Record<WireName, string>> = {
  anthropic: '/v1/messages',
  chat: '/v1/chat/completions',
  responses: '/v1/responses',
  gemini: '/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse',
};

export const WIRE_NAMES = Object.keys(PATH_BY_WIRE) as WireName[];
