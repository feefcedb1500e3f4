/**
 * `@condenser` only sees its own turns, so the user picks a conversation. Nothing changes until the
 * user presses a button.
 */
import * as vscode from 'vscode';
import { formatThreshold, formatCondensationTotals, formatLastCondensation } from '../agent/statusBar';
import { listLiveConversations } from '../agent/runtime';
import { PreviewThread } from '../engine/previewThread';
import type { PreviewResult } from '../background/preview/messages';
import type { CondensationOutline } from '../background/taskResults';
import { formatCost, formatTokens } from '../core/format';
import { getProviderName, type CondensationProvider, type StepReport } from '../core/condense/types';
import { getErrorMessage } from '../core/errors';
import type { LiveSummary } from '../live/types';
import { getEngineBundle, withCancellation } from '../window/background';
import { formatTokenChange } from '../window/condensationWords';
import { escapeMarkdown, makeMarkdown, showMarkdown, type SafeMarkdown } from '../window/markdownText';
import type { Services } from '../window/services';
import { resolveConversation, loadLiveView, type ConversationKey } from './chosenConversation';
import { listLedgersSince } from './conversations/background';
import { readPreviewSetup } from './previewSetup';
import { pickConversation } from './pickConversation';

export async function answerInChat(
  services: Services,
  { command }: Pick<vscode.ChatRequest, 'command'>,
  stream: vscode.ChatResponseStream,
  token: vscode.CancellationToken,
): Promise<vscode.ChatResult> {
  try {
    if (command === 'report') await respondWithReport(services, stream);
    else if (command === 'preview')
      await withCancellation(token, (signal) => respondWithPreview(services, stream, signal));
    else respondWithHelp(services, stream);
    return {};
  } catch (error) {
    if (error instanceof vscode.CancellationError) return {};
    const message = getErrorMessage(error);
    services.log.error(message);
    // The chat renders this message as Markdown.
    return { errorDetails: { message: escapeMarkdown(message) } };
  }
}

function respondWithHelp(services: Services, stream: vscode.ChatResponseStream): void {
  showMarkdown(
    stream,
    makeMarkdown`${vscode.l10n.t('Context Condenser removes what the model no longer needs from a conversation, and restores all of it on demand.')}
- \`/report\`: ${vscode.l10n.t('what was condensed in a conversation that you pick, and what it saved')}
- \`/preview\`: ${vscode.l10n.t('what condensing a conversation would do; nothing is changed')}
- \`/help\`: ${vscode.l10n.t('this')}

${vscode.l10n.t('I see only what you say to me, not the conversation around it, so I ask which one you mean. In the agent’s own turns, #recall gets condensed content back.')}`,
  );
  const [live] = listLiveConversations(services);
  if (live) {
    stream.button({ command: 'contextCondenser.showLive', title: vscode.l10n.t('Show the Chat’s Conversations') });
  }
  stream.button({ command: 'contextCondenser.condenseNow', title: vscode.l10n.t('Condense Context Now') });
  stream.button({ command: 'contextCondenser.openSettings', title: vscode.l10n.t('Settings') });
}

async function pickChatSubject(
  services: Services,
  title: string,
  openLabel: string,
): Promise<{ readonly name: ConversationKey; readonly live?: LiveSummary; readonly title?: string } | undefined> {
  const conversation = await pickConversation(services, listLiveConversations(services), {
    title,
    open: openLabel,
    staysOpen: true,
  });
  if (!conversation) return undefined;
  return 'live' in conversation
    ? { name: { kind: 'live', id: conversation.live.id }, live: conversation.live }
    : { ...conversation, name: { kind: 'file', path: conversation.path } };
}

const respondThatNothingWasPicked = (stream: vscode.ChatResponseStream): void => {
  showMarkdown(stream, makeMarkdown`${vscode.l10n.t('No conversation was picked. Nothing was changed.')}`);
};

async function respondWithReport(services: Services, stream: vscode.ChatResponseStream): Promise<void> {
  const subject = await pickChatSubject(services, vscode.l10n.t('Report on a conversation'), vscode.l10n.t('Report'));
  if (!subject) {
    respondThatNothingWasPicked(stream);
    return;
  }
  if (subject.live) {
    respondWithLiveReport(subject.live, stream);
    return;
  }
  const { name } = subject;
  const filePath = name.kind === 'file' ? name.path : '';
  const { ledgers } = await listLedgersSince(services, 0);
  const ledger = ledgers.find((each) => each.path === filePath);
  const condensations = ledger?.condensations.filter(({ isReplaced }) => !isReplaced) ?? [];
  showMarkdown(stream, makeMarkdown`### ${ledger?.title ?? subject.title ?? filePath}`);
  if (condensations.length === 0) {
    showMarkdown(stream, makeMarkdown`\n\n${vscode.l10n.t('It has not been condensed.')}`);
    stream.button(createCondenseButton(name));
    return;
  }
  for (const condensation of condensations.toReversed())
    showMarkdown(stream, renderCondensation(condensation, services.registered.listProviders()));
  stream.button({ command: 'contextCondenser.openOriginal', title: vscode.l10n.t('Open Original') });
  stream.button({ command: 'contextCondenser.openSettings', title: vscode.l10n.t('History'), arguments: ['history'] });
}

function renderCondensation(
  { at, provider, tokensBefore, tokensAfter, isUndone, steps, cost }: CondensationOutline,
  registered: readonly CondensationProvider[],
): SafeMarkdown {
  const time = new Date(at).toLocaleString(vscode.env.language);
  const providerAndTime = `${getProviderName(provider, registered)}, ${time}`;
  const lines = [
    `${formatTokenChange(tokensBefore, tokensAfter)}; ${vscode.l10n.t('cost: {0}', formatCost(cost))}`,
    ...renderStepLines(steps),
  ];
  const undoneMark = isUndone ? makeMarkdown` (${vscode.l10n.t('undone')})` : '';
  return makeMarkdown`\n\n**${providerAndTime}**${undoneMark}${renderMarkdownList(lines)}`;
}

const renderMarkdownList = (lines: readonly string[]): SafeMarkdown[] => lines.map((line) => makeMarkdown`\n- ${line}`);

const renderStepLines = (steps: readonly StepReport[]): string[] =>
  steps.flatMap(({ name, tokensBefore, tokensAfter, edits, outcome }) =>
    outcome.kind === 'failed'
      ? [`${name}: ${outcome.reason}`]
      : edits > 0
        ? [`${name}: ${formatTokenChange(tokensBefore, tokensAfter)}`]
        : [],
  );

function respondWithLiveReport(live: LiveSummary, stream: vscode.ChatResponseStream): void {
  const { title, tokens, contextWindow, spent, whyNot, condensations } = live;
  const lines = [
    vscode.l10n.t('{0} of {1} tokens', formatTokens(tokens), formatTokens(contextWindow)),
    formatThreshold(live),
    ...(condensations.length > 0 ? [formatCondensationTotals(live)] : []),
    ...formatLastCondensation(live),
    ...(whyNot === undefined ? [] : [vscode.l10n.t('Not condensed: {0}', whyNot)]),
    ...(spent === undefined ? [] : [vscode.l10n.t('Cost so far: {0}', formatCost(spent))]),
  ];
  showMarkdown(stream, makeMarkdown`### ${title}\n${renderMarkdownList(lines)}`);
  if (condensations.length > 0) {
    stream.button({ command: 'contextCondenser.showLive', title: vscode.l10n.t('Details…') });
  }
  stream.button(createCondenseButton({ kind: 'live', id: live.id }));
}

const createCondenseButton = (conversation: ConversationKey): vscode.Command => ({
  command: 'contextCondenser.condenseNow',
  title: vscode.l10n.t('Condense This Conversation'),
  arguments: [conversation.kind === 'file' ? conversation.path : { live: conversation.id }],
});

async function respondWithPreview(
  services: Services,
  stream: vscode.ChatResponseStream,
  signal: AbortSignal,
): Promise<void> {
  const subject = await pickChatSubject(services, vscode.l10n.t('Preview a conversation'), vscode.l10n.t('Preview'));
  if (!subject) {
    respondThatNothingWasPicked(stream);
    return;
  }
  stream.progress(vscode.l10n.t('Working out what would be removed'));
  await loadLiveView(services, subject.name);
  const conversation = resolveConversation(services, subject.name);
  const setup = await readPreviewSetup(services, { kind: 'current' });
  const describeEnd = (reason: string): string => vscode.l10n.t('The preview’s worker ended ({0}).', reason);
  const thread = new PreviewThread({ bundle: getEngineBundle(services), ended: describeEnd });
  try {
    const preview = await thread.askPreviewQuestion({ kind: 'preview', conversation, setup, excluded: [] }, signal);
    showMarkdown(stream, renderEstimate(preview, getProviderName(setup.provider, services.registered.listProviders())));
    stream.button(createCondenseButton(subject.name));
    stream.button({
      command: 'contextCondenser.openSettings',
      title: vscode.l10n.t('Open the Preview'),
      arguments: ['preview'],
    });
  } finally {
    thread.endThread();
  }
}

function renderEstimate(preview: PreviewResult, providerName: string): SafeMarkdown {
  const { title, steps, tokensBefore, tokensAfter, targetTokens, calls, cost, notes } = preview;
  const change = formatTokenChange(tokensBefore, tokensAfter);
  const targetText = vscode.l10n.t('{0} tokens', formatTokens(targetTokens));
  const costText = vscode.l10n.t('Requests to a model: {0}, about {1}', calls, formatCost(cost));
  return makeMarkdown`### ${title}

${vscode.l10n.t('{0} would condense it: {1}. Nothing was changed.', providerName, change)}
${renderMarkdownList(renderStepLines(steps))}

${
  tokensAfter <= targetTokens
    ? vscode.l10n.t('This would meet the target of {0}.', targetText)
    : vscode.l10n.t('This would still be above the target of {0}.', targetText)
}
${renderMarkdownList([...(calls > 0 ? [costText] : []), ...notes])}`;
}
