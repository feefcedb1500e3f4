import type * as vscode from 'vscode';
import type { ReadTask, ReportTask } from '../../background/tasks';
import { getErrorMessage } from '../../core/errors';
import { runInBackground } from '../../window/background';
import type { Services } from '../../window/services';

/**
 * Updates a page whenever its conversation's condensations change; closes it if the conversation
 * has none any more.
 */
export function keepPageUpdated(
  services: Services,
  panel: vscode.WebviewPanel,
  conversation: string,
  createTask: () => ReadTask | ReportTask | Promise<ReadTask | ReportTask>,
): void {
  const update = async (): Promise<void> => {
    try {
      const { page } = await runInBackground(services, await createTask(), new AbortController().signal);
      if (page === undefined) panel.dispose();
      else panel.webview.html = page;
    } catch (error) {
      // Keep the page as it is, because the user did not ask for this update.
      services.log.warn(getErrorMessage(error));
    }
  };
  const subscriptions = [
    services.ledgersChanged.event(() => void update()),
    services.condensed.event(({ conversation: id }) => {
      if (id === conversation) void update();
    }),
  ];
  panel.onDidDispose(() => {
    for (const subscription of subscriptions) subscription.dispose();
  });
}
