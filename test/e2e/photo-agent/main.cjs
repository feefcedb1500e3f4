// An agent of another extension: it asks the chat's model itself, and answers its calls with photos from the folder that PHOTOS names.
// VS Code's own agent leaves its tools' images out beyond 2.6 MB of a turn, and all of earlier turns (seen in 1.139).
const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const vscode = require('vscode');

const CAMERA = {
  name: 'take_photo',
  description: 'Takes a photo.',
  inputSchema: { type: 'object', properties: { name: { type: 'string' } } },
};
const RECALL = 'contextCondenser_recall';

/** The one conversation, which goes on with each prompt. */
const messages = [];

async function contentFor({ name, input }, toolInvocationToken, token) {
  if (name !== CAMERA.name) return (await vscode.lm.invokeTool(name, { input, toolInvocationToken }, token)).content;
  const photo = readFileSync(join(process.env.PHOTOS, input.name));
  return [new vscode.LanguageModelTextPart(`${input.name}:`), vscode.LanguageModelDataPart.image(photo, 'image/png')];
}

async function answer({ prompt, model, toolInvocationToken }, _context, stream, token) {
  const recall = vscode.lm.tools.filter(({ name }) => name === RECALL);
  const tools = [CAMERA, ...recall.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))];
  messages.push(vscode.LanguageModelChatMessage.User(prompt));
  for (;;) {
    const said = [];
    const response = await model.sendRequest(messages, { tools }, token);
    for await (const part of response.stream) {
      if (part instanceof vscode.LanguageModelTextPart) stream.markdown(part.value);
      if (part instanceof vscode.LanguageModelTextPart || part instanceof vscode.LanguageModelToolCallPart)
        said.push(part);
    }
    messages.push(vscode.LanguageModelChatMessage.Assistant(said));
    const calls = said.filter((part) => part instanceof vscode.LanguageModelToolCallPart);
    if (calls.length === 0) return {};
    const results = [];
    for (const call of calls)
      results.push(
        new vscode.LanguageModelToolResultPart(call.callId, await contentFor(call, toolInvocationToken, token)),
      );
    messages.push(vscode.LanguageModelChatMessage.User(results));
  }
}

exports.activate = (context) => {
  context.subscriptions.push(vscode.chat.createChatParticipant('probe.photographer', answer));
};
