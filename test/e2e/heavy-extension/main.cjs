// An agent that sends the beginnings of a conversation, one after the other, to the first model of a vendor. Its command is given a file:
// JSON with the vendor, the conversation in Anthropic's form, and of how many messages each request is.
const { readFileSync } = require('node:fs');
const vscode = require('vscode');

const { LanguageModelTextPart: Text, LanguageModelToolCallPart: Call, LanguageModelToolResultPart: Result } = vscode;
const { User, Assistant } = vscode.LanguageModelChatMessage;

const textOf = (content) => (typeof content === 'string' ? content : content.map(({ text = '' }) => text).join('\n'));

function partOf({ type, text, id, name, input, tool_use_id: call, content = '' }) {
  if (type === 'tool_use') return new Call(id, name, input);
  if (type === 'tool_result') return new Result(call, [new Text(textOf(content))]);
  return new Text(text);
}

const messageOf = ({ role, content }) =>
  (role === 'user' ? User : Assistant)(typeof content === 'string' ? content : content.map(partOf));

async function send(file) {
  const { vendor, messages, requests } = JSON.parse(readFileSync(file, 'utf8'));
  const [model] = await vscode.lm.selectChatModels({ vendor });
  if (!model) throw new Error(`There is no model of ${vendor}.`);
  const tools = [{ name: 'Read', description: 'Reads a file.', inputSchema: { type: 'object' } }];
  const all = messages.map(messageOf);
  for (const count of requests) {
    const response = await model.sendRequest(all.slice(0, count), { justification: 'A stand-in for an agent.', tools });
    for await (const _part of response.stream);
  }
}

exports.activate = ({ subscriptions }) => {
  subscriptions.push(vscode.commands.registerCommand('condenser-heavy-extension.send', send));
};
