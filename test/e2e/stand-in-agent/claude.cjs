#!/usr/bin/env node
// An agent of the command line as Claude Code's requests are: STAND_IN_STEPS steps that read files, the whole history in each request.
// It stands still after half of them until the file STAND_IN_GO is there, and says what became of each request in STAND_IN_LOG.
const { appendFileSync, existsSync, watch } = require('node:fs');
const { dirname } = require('node:path');

const { ANTHROPIC_BASE_URL: base, STAND_IN_GO: go, STAND_IN_LOG: log, STAND_IN_STEPS: steps = '60' } = process.env;

const fileText = (number) =>
  Array.from(
    { length: 60 },
    (_, line) => `${line + 1}: export const value${number}_${line} = compute(${(number * 7919 + line * 31) % 9973});`,
  ).join('\n');

const messages = [{ role: 'user', content: 'Put the notes in order.' }];

async function ask() {
  const body = {
    model: 'claude-sonnet-4-5',
    max_tokens: 4000,
    stream: true,
    system: 'You are an agent.',
    tools: [{ name: 'Read', input_schema: { type: 'object' } }],
    messages,
  };
  const headers = {
    'content-type': 'application/json',
    'anthropic-version': '2023-06-01',
    'x-api-key': process.env.ANTHROPIC_API_KEY,
    'x-claude-code-session-id': `stand-in-${process.pid}`,
  };
  try {
    const answer = await fetch(`${base}/v1/messages`, { method: 'POST', headers, body: JSON.stringify(body) });
    const text = await answer.text();
    return `${answer.status} ${text.includes('message_stop') ? 'whole' : text.slice(0, 200)}`;
  } catch (error) {
    return `failed ${error.cause?.code ?? error.message}`;
  }
}

const going = () =>
  new Promise((resolve) => {
    if (existsSync(go)) return resolve();
    const watcher = watch(dirname(go), () => {
      if (!existsSync(go)) return;
      watcher.close();
      resolve();
    });
  });

(async () => {
  for (let step = 0; step < Number(steps); step++) {
    if (step === Number(steps) / 2) await going();
    const said = await ask();
    appendFileSync(log, `${step} ${said}\n`);
    process.stdout.write(`step ${step}: ${said}\r\n`);
    if (!said.startsWith('200')) process.exit(3);
    // Every fourth time a file that was read before.
    const number = step % 4 === 3 ? step - 2 : step;
    const id = `toolu_${step}`;
    messages.push(
      {
        role: 'assistant',
        content: [
          { type: 'text', text: `Step ${step}.` },
          { type: 'tool_use', id, name: 'Read', input: { file_path: `/notes/${number}.ts` } },
        ],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: fileText(number) }] },
    );
  }
})();
