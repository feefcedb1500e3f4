#!/usr/bin/env node
// An agent of the command line as Claude Code's requests are: STAND_IN_STEPS steps that read files, the whole history in each request.
// It sends as many requests as the file STAND_IN_GO says, then it stands still until that says more. Ctrl+C breaks off the request that is
// under way, which is then sent again. What became of each stands in STAND_IN_LOG.
const { appendFileSync, readFileSync, watch } = require('node:fs');
const { dirname } = require('node:path');

const { ANTHROPIC_BASE_URL: base, STAND_IN_GO: go, STAND_IN_LOG: log, STAND_IN_STEPS: steps } = process.env;

const fileText = (number) =>
  Array.from(
    { length: 60 },
    (_, line) => `${line + 1}: export const value${number}_${line} = compute(${(number * 7919 + line * 31) % 9973});`,
  ).join('\n');

const messages = [{ role: 'user', content: 'Put notes in order.' }];

let underWay;
process.on('SIGINT', () => underWay?.abort());

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
  underWay = new AbortController();
  const { signal } = underWay;
  try {
    const answer = await fetch(`${base}/v1/messages`, { method: 'POST', headers, body: JSON.stringify(body), signal });
    const text = await answer.text();
    return `${answer.status} ${text.includes('message_stop') ? 'whole' : text.slice(0, 200)}`;
  } catch (error) {
    return signal.aborted ? 'cancelled' : `failed ${error.cause?.code ?? error.message}`;
  } finally {
    underWay = undefined;
  }
}

/** Waits until so many requests may have been sent. */
const allowed = (count) =>
  new Promise((resolve) => {
    const look = () => {
      if (Number(readFileSync(go, 'utf8')) < count) return;
      watcher.close();
      resolve();
    };
    const watcher = watch(dirname(go), look);
    look();
  });

(async () => {
  for (let [step, asked] = [0, 1]; step < Number(steps); asked++) {
    await allowed(asked);
    const said = await ask();
    appendFileSync(log, `${step} ${said}\n`);
    process.stdout.write(`step ${step}: ${said}\r\n`);
    if (said === 'cancelled') continue;
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
    step++;
  }
})().catch((error) => {
  console.error(error);
  process.exit(1);
});
