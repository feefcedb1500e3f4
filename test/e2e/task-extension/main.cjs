// An extension with agents of its own that takes its model from VS Code, and sends as Cline's "VS Code LM API" does: no id, the system prompt
// as an answer in front of the task, and each request with the whole history. It works on two tasks at once, one with native tools and one
// with XML in the text. TASK_SETTING is JSON ({ vendor, steps, log }): whose model it takes, how often it asks, and the file for what came of it.
const { writeFileSync } = require('node:fs');
const vscode = require('vscode');

const { vendor, steps, log } = JSON.parse(process.env.TASK_SETTING);
const { User, Assistant } = vscode.LanguageModelChatMessage;
const READ = {
  name: 'read_file',
  description: 'Reads a file.',
  inputSchema: { type: 'object', properties: { path: { type: 'string' } } },
};

/** What a file of a task says. */
const fileText = (path) =>
  Array.from({ length: 90 }, (_, line) => `export const ${path.replace(/\W/g, '_')}_${line} = compute(${line * 31});`);

/** Asks for one step; its answer is kept, and answered with the file that it wants to read. */
async function step(model, messages, isNative) {
  const options = { justification: 'A stand-in for an agent.', ...(isNative && { tools: [READ] }) };
  const response = await model.sendRequest(messages, options);
  let text = '';
  const calls = [];
  for await (const part of response.stream) {
    if (part instanceof vscode.LanguageModelTextPart) text += part.value;
    if (part instanceof vscode.LanguageModelToolCallPart) calls.push(part);
  }
  messages.push(Assistant([...(text === '' ? [] : [new vscode.LanguageModelTextPart(text)]), ...calls]));
  if (isNative) {
    const results = calls.map(
      ({ callId, input }) =>
        new vscode.LanguageModelToolResultPart(callId, [
          new vscode.LanguageModelTextPart(fileText(input.path).join('\n')),
        ]),
    );
    messages.push(User(results));
  } else {
    const path = /<path>(.*)<\/path>/.exec(text)?.[1] ?? '';
    const numbered = fileText(path).map((line, at) => `${at + 1} | ${line}`);
    messages.push(User(`[read_file for '${path}'] Result:\n${numbered.join('\n')}`));
  }
}

async function task(model, title, isNative) {
  const messages = [
    Assistant('You are a coding agent. Use the tools one at a time.'),
    User(`<task>\n${title}\n</task>`),
  ];
  for (let count = 0; count < steps; count++) await step(model, messages, isNative);
}

exports.activate = (context) => {
  const work = async () => {
    const [model] = await vscode.lm.selectChatModels({ vendor });
    if (!model) throw new Error(`There is no model of ${vendor}.`);
    await Promise.all([
      task(model, 'Put the native notes in order', true),
      task(model, 'Put the other notes in order', false),
    ]);
  };
  context.subscriptions.push(
    vscode.commands.registerCommand('condenser-task-extension.work', () =>
      work().then(
        () => writeFileSync(log, 'done'),
        (error) => writeFileSync(log, `failed: ${error?.stack || error}`),
      ),
    ),
  );
};
