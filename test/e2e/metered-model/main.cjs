// A model of VS Code as Copilot's behave: it says how many tokens a call took (a data part of the type "usage"), it takes fewer
// than it declares, and refuses more in Copilot's words. METERED_TASK names a file with what it answers, step by step
// ({ limit, declared, steps: [{ text, calls }], done }), METERED_LOG one to which each request adds a line. A task with a "turn" can be
// replaced while the window runs: its steps then begin with the next request, whatever stands in the conversation.
const { appendFileSync, readFileSync } = require('node:fs');
const vscode = require('vscode');

let task = JSON.parse(readFileSync(process.env.METERED_TASK, 'utf8'));
/** Requests that were answered since the task was replaced. */
let served = 0;
function takeNewTask() {
  const newest = JSON.parse(readFileSync(process.env.METERED_TASK, 'utf8'));
  if (newest.turn === task.turn) return;
  task = newest;
  served = 0;
}

/** This vendor makes a token of 2.8 characters: about 1.4 times as many as o200k of code. */
const tokensIn = (text) => Math.ceil(text.length / 2.8);

const textOf = (part) => {
  if (part instanceof vscode.LanguageModelTextPart) return part.value;
  if (part instanceof vscode.LanguageModelToolCallPart) return part.name + JSON.stringify(part.input);
  if (part instanceof vscode.LanguageModelToolResultPart) return part.content.map(textOf).join('');
  return '';
};

/** What stood at the beginning of the last request, too, comes from the cache. */
let before = [];
function cachedIn(texts) {
  const differing = texts.findIndex((text, index) => before[index] !== text);
  const same = differing === -1 ? texts.length : differing;
  before = texts;
  return texts.slice(0, same).reduce((sum, text) => sum + tokensIn(text), 0);
}

const provider = {
  provideLanguageModelChatInformation: ({ configuration }) =>
    configuration === undefined
      ? []
      : [
          {
            id: 'm1',
            name: 'Metered Model',
            family: 'gpt-4.1',
            version: '1',
            maxInputTokens: task.declared,
            maxOutputTokens: 8_000,
            capabilities: { toolCalling: true },
          },
        ],
  async provideLanguageModelChatResponse(_model, messages, options, progress) {
    if (!options.tools?.length) return progress.report(new vscode.LanguageModelTextPart('A title'));
    takeNewTask();
    const texts = [JSON.stringify(options.tools), ...messages.map(({ content }) => content.map(textOf).join(''))];
    const tokens = texts.reduce((sum, text) => sum + tokensIn(text), 0);
    const isTooLong = tokens > task.limit;
    const cached = isTooLong ? 0 : cachedIn(texts);
    appendFileSync(process.env.METERED_LOG, `${JSON.stringify({ tokens, cached, isTooLong })}\n`);
    if (isTooLong) {
      const message = `prompt token count of ${tokens} exceeds the limit of ${task.limit}`;
      const error = { message, code: 'model_max_prompt_tokens_exceeded' };
      throw new Error(`Request Failed: 400 ${JSON.stringify({ error })}`);
    }
    const answered = messages.filter(({ content }) =>
      content.some((part) => part instanceof vscode.LanguageModelToolCallPart),
    ).length;
    const step = task.turn === undefined ? answered : served++;
    const { text, calls = [] } = task.steps[step] ?? { text: task.done };
    progress.report(new vscode.LanguageModelTextPart(text));
    for (const [index, { name, input }] of calls.entries())
      progress.report(new vscode.LanguageModelToolCallPart(`call_${answered}_${index}`, name, input));
    const output = tokensIn(text + JSON.stringify(calls));
    const usage = {
      prompt_tokens: tokens,
      completion_tokens: output,
      total_tokens: tokens + output,
      prompt_tokens_details: { cached_tokens: cached },
    };
    progress.report(new vscode.LanguageModelDataPart(new TextEncoder().encode(JSON.stringify(usage)), 'usage'));
  },
  provideTokenCount: (_model, text) =>
    Promise.resolve(tokensIn(typeof text === 'string' ? text : text.content.map(textOf).join(''))),
};

exports.activate = (context) => {
  context.subscriptions.push(vscode.lm.registerLanguageModelChatProvider('condenser-metered', provider));
};
