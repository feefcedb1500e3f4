import * as vscode from 'vscode';
import type { GivenBackResult } from '../../background/taskResults';
import { AGENT_LIST, type AgentName } from '../../core/agents';
import { getErrorMessage } from '../../core/errors';
import { GiveBackError, type GiveBackErrorKind } from '../../giveBack/giveBackError';
import { parseRooApi, runWhileTaskPaused, type RooApi } from '../../giveBack/pausedTask';
import type { GiveBackTarget } from '../../core/agents/types';
import type { GivenBackName, UndoneGiveBack } from '../../giveBack/replacements';
import { findGiveBackTarget } from '../../core/agents/giveBackTarget';
import { nodeFiles } from '../../storage/nodeFiles';
import type { Services } from '../../window/services';
import { getConversationIndex, getFileName } from '../conversationIndex';
import { getReplacementsFolder, toStoredConversation, runUncancellableTask, runTaskWithProgress } from './background';
import { getConversationWorkspace } from '../../views/conversations/nodes';
import { exportConversationFile } from './exportFile';
import { getResumeShellCommand, resumeInTerminal } from './resume';
import { showErrorMessage, showInformationMessage, showProgress, showWarningMessage } from '../../window/notifications';

/** Checks the conversation and asks the user first. Shows errors and does not rethrow them. */
export async function giveBackConversationFile(services: Services, path: string, agent?: AgentName): Promise<void> {
  try {
    await askAndGiveBack(services, path, agent);
  } catch (error) {
    if (error instanceof vscode.CancellationError) return;
    await showGiveBackError(services, path, error);
  }
}

/** Kinds of errors that a retry can't solve. */
const ERRORS_WITHOUT_RETRY: ReadonlySet<GiveBackErrorKind> = new Set([
  'unexpected-shape',
  'not-supported',
  'newer-version',
  'outside-folder',
]);

async function showGiveBackError(services: Services, path: string, error: unknown): Promise<void> {
  const text = vscode.l10n.t('“{0}” was not given back. {1}', getFileName(services, path), getErrorMessage(error));
  services.log.error(text);
  const exportLabel = vscode.l10n.t('Export Condensed Conversation');
  const offeredLabels = error instanceof GiveBackError && ERRORS_WITHOUT_RETRY.has(error.kind) ? [exportLabel] : [];
  if ((await showErrorMessage(text, ...offeredLabels)) === exportLabel) await exportConversationFile(services, path);
}

async function askAndGiveBack(services: Services, path: string, agent: AgentName | undefined): Promise<void> {
  const target = findGiveBackTarget(path, agent);
  if (!target) {
    await offerExport(services, path, agent);
    return;
  }
  const agentName = getConversationIndex(services).conversations.find((each) => each.path === path)?.agent ?? agent;
  const question =
    agentName === undefined
      ? vscode.l10n.t('Give “{0}” back to its agent?', getFileName(services, path))
      : vscode.l10n.t('Give “{0}” back to {1}?', getFileName(services, path), agentName);
  try {
    const task = { kind: 'check-give-back', ...makeGiveBackTask(services, path, agent) } as const;
    const title = vscode.l10n.t('Checking “{0}”', getFileName(services, path));
    const { damage } = await runTaskWithProgress(services, title, task);
    if (!(await confirmGiveBack(question, [describeGiveBackTarget(target), ...damage].join('\n\n')))) return;
    await showGivenBack(services, path, await runGiveBackTask(services, path, agent));
  } catch (error) {
    const agentApi = target === 'roo-task' && isAgentRunningError(error) ? await getAgentApi(path, agent) : undefined;
    if (!agentApi) throw error;
    await pauseAndGiveBack(services, path, agent, agentApi);
  }
}

const runGiveBackTask = (services: Services, path: string, agent: AgentName | undefined): Promise<GivenBackResult> =>
  Promise.resolve(
    showProgress(
      // No cancel: a replacement must complete once begun.
      {
        location: vscode.ProgressLocation.Notification,
        title: vscode.l10n.t('Giving back “{0}”', getFileName(services, path)),
      },
      () => runUncancellableTask(services, { kind: 'give-back', ...makeGiveBackTask(services, path, agent) }),
    ),
  );

const makeGiveBackTask = (services: Services, path: string, agent: AgentName | undefined) => ({
  ...toStoredConversation(services, path),
  ...(agent && { agent }),
  replacements: getReplacementsFolder(services),
});

const isAgentRunningError = (error: unknown): boolean => error instanceof GiveBackError && error.kind === 'running';

function describeGiveBackTarget(target: GiveBackTarget): string {
  switch (target) {
    case 'roo-task':
      return vscode.l10n.t(
        'The task’s own files are changed the way the agent itself changes them when it condenses: all messages are kept and can be restored by rewinding. Close the task in its agent first. A backup is kept for 30 days.',
      );
    case 'cline-sidecar':
      return vscode.l10n.t(
        'A compaction file is written next to the session. Cline reads it the next time the session is opened. The session itself is not changed.',
      );
    case 'claude-code-session':
      return vscode.l10n.t(
        'A new session is written next to the old one; its title ends in “(condensed)”. The old session is not changed.',
      );
  }
}

async function confirmGiveBack(question: string, detail: string): Promise<boolean> {
  const giveBackLabel = vscode.l10n.t('Give Back');
  return (await showWarningMessage(question, { modal: true, detail }, giveBackLabel)) === giveBackLabel;
}

function findWorkingFolder(services: Services, path: string): string | undefined {
  const foundConversation = getConversationIndex(services).conversations.find((each) => each.path === path);
  return foundConversation && getConversationWorkspace(foundConversation);
}

/** @param source the file that was given back */
async function showGivenBack(
  services: Services,
  source: string,
  { target, path, conversation }: GivenBackResult,
): Promise<void> {
  services.log.info(`Given back: ${path}`);
  if (target === 'claude-code-session') void getConversationIndex(services).refresh();
  // The new session's file is in the original's folder, so both have the same working folder. The
  // list of conversations knows the original's.
  const folder = findWorkingFolder(services, source);
  const command = target === 'claude-code-session' ? getResumeShellCommand(path, folder) : undefined;
  const text = {
    'roo-task': vscode.l10n.t('Given back. Open the task in its agent to continue with the condensed conversation.'),
    'cline-sidecar': vscode.l10n.t(
      'Given back. Cline continues with the condensed conversation the next time the session is opened.',
    ),
    'claude-code-session': vscode.l10n.t('Given back to Claude Code as a new session.'),
  }[target];
  const copyLabel = vscode.l10n.t('Copy Command');
  const undoLabel = vscode.l10n.t('Undo Giving Back');
  const resumeLabel = vscode.l10n.t('Resume in Terminal');
  const answer = await showInformationMessage(
    text,
    ...(command === undefined ? [] : [resumeLabel, copyLabel]),
    undoLabel,
  );
  if (answer === resumeLabel) resumeInTerminal(path, folder);
  if (answer === undoLabel) await undoGiveBack(services, { conversation });
  if (answer === copyLabel && command !== undefined) await vscode.env.clipboard.writeText(command);
}

/** @param name the conversation; undefined if it was never read */
export async function undoGiveBack(services: Services, name: GivenBackName | undefined): Promise<void> {
  const replacements = getReplacementsFolder(services);
  const undoneGiveBack = name && (await runUncancellableTask(services, { kind: 'undo-give-back', name, replacements }));
  if (undoneGiveBack) void getConversationIndex(services).refresh();
  void showInformationMessage(
    undoneGiveBack
      ? describeUndoneGiveBack(services, undoneGiveBack)
      : vscode.l10n.t('Nothing was given back, so there is nothing to undo.'),
  );
}

function describeUndoneGiveBack(services: Services, { copiesLeft: [copy, ...otherCopies] }: UndoneGiveBack): string {
  if (copy === undefined) return vscode.l10n.t('Undone. The agent’s files are as they were before.');
  return otherCopies.length === 0
    ? vscode.l10n.t('Undone. The copy was removed; “{0}”, which was made from it, stays.', getFileName(services, copy))
    : vscode.l10n.t('Undone. The copy was removed; {0} copies that were made from it stay.', 1 + otherCopies.length);
}

async function offerExport(services: Services, path: string, agent: AgentName | undefined): Promise<void> {
  const exportLabel = vscode.l10n.t('Export…');
  const knownAgent = AGENT_LIST.find(({ name }) => name === agent);
  const reason = !knownAgent
    ? vscode.l10n.t('it is not known which agent the file belongs to.')
    : knownAgent.giveBack
      ? vscode.l10n.t('the file is not where {0} keeps its conversations.', knownAgent.name)
      : vscode.l10n.t('{0} does not continue with what other programs write.', knownAgent.name);
  const message = vscode.l10n.t(
    'This conversation can’t be given back: {0} You can export it, or hand it over with a prompt.',
    reason,
  );
  if ((await showInformationMessage(message, exportLabel)) !== exportLabel) return;
  await exportConversationFile(services, path);
}

/** IDs of the agents' extensions, as in the paths of their task files. */
const EXTENSION_ID_BY_AGENT = {
  'Roo Code': 'rooveterinaryinc.roo-cline',
  'Zoo Code': 'zoocodeorganization.zoo-code',
} as const;

/** Returns undefined if the agent's extension isn't installed. */
async function getAgentApi(path: string, agent: AgentName | undefined): Promise<RooApi | undefined> {
  const extensionId = agent === 'Roo Code' || agent === 'Zoo Code' ? EXTENSION_ID_BY_AGENT[agent] : undefined;
  const id = extensionId ?? Object.values(EXTENSION_ID_BY_AGENT).find((each) => path.toLowerCase().includes(each));
  const extension = id === undefined ? undefined : vscode.extensions.getExtension<unknown>(id);
  return extension && parseRooApi(await extension.activate());
}

/** Asks first, every time, because giving back interrupts the agent's work. */
async function pauseAndGiveBack(
  services: Services,
  path: string,
  agent: AgentName | undefined,
  api: RooApi,
): Promise<void> {
  const question = vscode.l10n.t('The task is running. Pause it, give it back and resume it?');
  const detail = vscode.l10n.t('The agent stops what it is doing, and anything it has not written yet is lost.');
  if (!(await confirmGiveBack(question, detail))) return;
  const clock = { now: Date.now, wait: (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms)) };
  const result = await runWhileTaskPaused(api, nodeFiles, path, clock, () => runGiveBackTask(services, path, agent));
  await showGivenBack(services, path, result);
}

/** At startup, completes or reverts what a process had begun before it died. */
export async function recoverGivenBack(services: Services): Promise<void> {
  try {
    const task = { kind: 'recover', replacements: getReplacementsFolder(services) } as const;
    const { recovered, problems } = await runUncancellableTask(services, task);
    if (recovered > 0) services.log.info(`Giving back was interrupted; brought to an end: ${recovered}.`);
    for (const problem of problems) services.log.warn(problem);
  } catch (error) {
    services.log.warn(`Interrupted giving back was not looked at. ${String(error)}`);
  }
}
