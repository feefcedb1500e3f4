import type * as vscode from 'vscode';
import { answerInChat } from '../../src/commands/participant';
import type { Services } from '../../src/window/services';
import type { MarkdownString } from './vscode';

/** Sends a request to @condenser, and returns the response's text and buttons. */
export async function askInChat(services: Services, command: string | undefined) {
  const said: string[] = [];
  const buttons: vscode.Command[] = [];
  const stream = {
    markdown: (text: string | MarkdownString) => said.push(typeof text === 'string' ? text : text.shown),
    progress: () => undefined,
    button: (button: vscode.Command) => buttons.push(button),
  };
  const token = { isCancellationRequested: false, onCancellationRequested: () => ({ dispose: () => undefined }) };
  const result = await answerInChat(
    services,
    { command },
    // The test double has only the members that are used.
    stream as unknown as vscode.ChatResponseStream,
    token,
  );
  return { text: said.join(''), buttons, result };
}
