/** The page needs no network or script, so it can be attached to an issue. */
import { sumCosts } from '../core/cost/callCost';
import { isRecord } from '../core/messages/blocks';
import { listContents } from '../core/messages/content';
import { listToolExchanges, getContentPlace } from '../core/messages/exchanges';
import { SUMMARY_ORIGIN } from '../core/messages/firewall';
import { getValueAt } from '../core/messages/path';
import { renderConversation } from '../core/messages/render';
import type { ToolTable } from '../core/messages/tools';
import type { ApiMessage, ContentType } from '../core/messages/types';
import { renderHtml, type SafeHtml } from './html';
import { maskMessage } from '../core/secrets/maskMessages';
import { maskSecrets } from '../core/secrets/maskSecrets';
import type { MessageCounter } from '../core/tokens/messageCounter';
import { applyEdits } from '../core/condense/edits/applyEdits';
import {
  selectLastEditPerPlace,
  makePlaceKey,
  renderCuts,
  type CutEdit,
  type Edit,
} from '../core/condense/edits/edits';
import type { StepReport } from '../core/condense/types';
import { getActiveCondensations, getActiveEdits, type Ledger } from '../core/condense/ledger/ledger';
import { measureCoherence, type CoherenceReport } from '../core/condense/coherence/coherence';
import { FACT_KINDS, type FactKind } from '../core/condense/coherence/facts';
import { formatPercentChange, formatCost, formatDurationMs, formatTokens } from '../core/format';
import { listCondensationNames } from '../core/condense/report/report';
import {
  type FillLevel,
  estimateCondensedFill,
  formatFillChange,
  formatFillSentence,
  formatFillTokens,
  formatMessageTokens,
} from '../core/account/fillLevel';
import { renderPage } from './page';

export interface ReportedCondensation {
  readonly title: string;
  /** Name of the agent's format, as `inspect` prints it. */
  readonly format: string;
  readonly original: readonly ApiMessage[];
  /** How full the model's window was; absent if unknown. */
  readonly fill?: FillLevel;
  readonly edits: readonly Edit[];
  readonly steps: readonly StepReport[];
  readonly providerName: string;
  /** Time of the condensation, ISO 8601; absent for a preview. */
  readonly at?: string;
  /** Cost of the condensation in US dollars; undefined if a price is unknown. */
  readonly cost: number | undefined;
  /** US dollars that each later request of the agent saves; absent if unknown. */
  readonly savedPerRequest?: number | undefined;
  readonly isGivenBack?: boolean;
  /** The agent, if it never continues with what other programs write. */
  readonly agentWithoutGiveBack?: { readonly name: string; readonly canRunCondensed: boolean } | undefined;
  readonly notes: readonly string[];
}

export interface ReportPageOptions {
  readonly counter: MessageCounter;
  /** Converts o200k tokens to the model's tokens. */
  readonly calibrate?: (tokens: number) => number;
  readonly tools?: ToolTable;
  /** Omits all text of the conversation, including names of files and tools. */
  readonly withoutContent?: boolean;
  readonly version: string;
  /** Window in tokens to use if the model's is unknown, as in the list of conversations. */
  readonly assumedWindow?: number | undefined;
  /** Set for a page in VS Code: it has VS Code's colors and actions. Absent for a file. */
  readonly webview?: WebviewFrame;
}

export interface WebviewFrame {
  /** Nonce of the page's style, the only one that is allowed. */
  readonly nonce: string;
  readonly actions: readonly { readonly label: string; readonly href: string }[];
}

/** Returns undefined if the view has no condensations. */
export function findReportedCondensation(
  ledger: Ledger,
  providerName: (id: string) => string,
): Pick<ReportedCondensation, 'edits' | 'steps' | 'providerName' | 'at' | 'cost' | 'notes'> | undefined {
  const condensations = getActiveCondensations(ledger);
  const lastCondensation = condensations.at(-1);
  if (!lastCondensation) return undefined;
  return {
    edits: getActiveEdits(ledger),
    steps: condensations.flatMap(({ steps }) => steps),
    providerName: listCondensationNames(condensations, providerName),
    at: lastCondensation.at,
    cost: sumCosts(condensations.map(({ cost }) => cost)),
    notes: [],
  };
}

/** Masks secrets in whole strings before truncating them. */
export function renderReportPage(subject: ReportedCondensation, options: ReportPageOptions): string {
  const { original, edits } = subject;
  const {
    counter,
    calibrate = (tokens: number) => tokens,
    tools,
    withoutContent = false,
    webview,
    assumedWindow,
  } = options;
  const { messages: view, origins } = applyEdits(original, edits);
  const coherence = measureCoherence(original, edits, tools);
  const sizes = measureTokensByKind(original, view, counter);
  const removedParts = withoutContent ? [] : collectRemovedParts(original, edits, counter);
  const name = withoutContent ? 'A conversation' : maskText(subject.title);
  const { steps, notes } = withoutContent ? dropFailureReasons(subject) : subject;
  const formatChange = (before: number, after: number): string =>
    formatPercentChange(calibrate(before), calibrate(after));
  const formatCount = (count: number): string => formatTokens(calibrate(count));
  return renderPage(
    `${name} · condensation report`,
    renderHtml`<header>
        <h1>${name}</h1>
        <p class="lead">
          <strong>${formatCount(sizes.before.total)} → ${formatCount(sizes.after.total)} tokens</strong>
          (${formatChange(sizes.before.total, sizes.after.total)}) with ${subject.providerName}, cost
          ${formatCost(subject.cost)}${subject.fill === undefined ? '' : renderFillChange(subject, subject.fill, sizes, assumedWindow)}
        </p>
        ${webview ? renderActionButtons(webview) : ''} ${renderNextStep(subject)}
        <p>
          ${subject.at === undefined ? 'A preview: nothing has been applied.' : `Condensed on ${formatTime(subject.at, webview)}.`}
          ${subject.fill === undefined ? '' : describeFillBeforeAndAfter(subject.fill, sizes, assumedWindow)}
          ${formatTokens(original.length)} messages before, ${formatTokens(view.length)} after. Format:
          ${subject.format}. Context Condenser ${options.version}.
        </p>
      </header>
      ${renderSizeTable(sizes, formatCount, formatChange)} ${renderTokenCurve(computeTokenCurve(original, view, origins, counter), formatCount)}
      ${renderStepTable(steps, formatCount, formatChange)} ${renderCoherence(coherence, withoutContent)}
      ${renderRemovedParts(removedParts, formatCount, withoutContent)} ${renderNotes(notes)}`,
    webview?.nonce,
  );
}

/** VS Code would show a link's command as its tooltip. */
const renderActionButtons = ({ actions }: WebviewFrame): SafeHtml =>
  renderHtml`<p class="actions">
    ${actions.map(({ label, href }) => renderHtml`<a class="button" href="${href}" title="${label}">${label}</a> `)}
  </p>`;

/** The agent's window stays as full as it was until the agent gets the condensed conversation. */
function renderFillChange(
  { isGivenBack = false, agentWithoutGiveBack }: ReportedCondensation,
  fill: FillLevel,
  { before, after }: SizesBeforeAndAfter,
  assumedWindow: number | undefined,
): SafeHtml | string {
  const condensedFill = estimateCondensedFill(fill, before.total, after.total);
  const windowTokens = fill.window ?? assumedWindow;
  return windowTokens === undefined || condensedFill === fill || agentWithoutGiveBack
    ? ''
    : renderHtml`; context window <strong>${formatFillChange(fill, condensedFill, windowTokens)}</strong>${isGivenBack ? '' : ' once the agent continues with it'}`;
}

function describeFillBeforeAndAfter(
  fill: FillLevel,
  { before, after }: SizesBeforeAndAfter,
  assumedWindow: number | undefined,
): string {
  const isWindowKnown = (fill.window ?? assumedWindow) !== undefined;
  const condensedFill = estimateCondensedFill(fill, before.total, after.total);
  return [
    `As the agent left it, ${isWindowKnown ? 'the context window was' : 'the conversation had'} ${formatFillSentence(fill, assumedWindow)}.`,
    `Messages: ${formatMessageTokens(before.total, fill)}.`,
    condensedFill === fill ? '' : `With the condensed messages, it would hold ${formatFillTokens(condensedFill)}.`,
  ]
    .filter((sentence) => sentence !== '')
    .join(' ');
}

/** Says what the condensed conversation is good for: nothing, until an agent continues with it. */
function renderNextStep({
  savedPerRequest: savedDollars,
  isGivenBack,
  agentWithoutGiveBack,
}: ReportedCondensation): SafeHtml | string {
  if (agentWithoutGiveBack) {
    const { name, canRunCondensed } = agentWithoutGiveBack;
    return renderHtml`<p>
      ${name} does not continue with what other programs write, so its own session stays as it was. To continue
      in a new session, export the condensed conversation as a handover prompt.
      ${canRunCondensed ? 'A session that is opened with “New Session, Condensed” is condensed while it runs.' : ''}
    </p>`;
  }
  return savedDollars === undefined || savedDollars <= 0
    ? ''
    : renderHtml`<p>
        ${isGivenBack ? 'Each later request costs' : 'Once given back to its agent, each later request costs'}
        ${formatCost(savedDollars)} less.
      </p>`;
}

const maskText = (text: string): string => maskSecrets(text);

/**
 * Leaves out why steps failed: such a message comes from a vendor or extension and may quote the
 * conversation.
 */
function dropFailureReasons({ steps, notes }: ReportedCondensation): Pick<ReportedCondensation, 'steps' | 'notes'> {
  const reasons = steps.flatMap(({ outcome }) => (outcome.kind === 'failed' ? [outcome.reason] : []));
  const hiddenOutcome = { kind: 'failed', reason: 'its message was left out' } as const;
  return {
    steps: steps.map((step) => (step.outcome.kind === 'failed' ? { ...step, outcome: hiddenOutcome } : step)),
    notes: notes.filter((note) => !reasons.some((reason) => note.includes(reason))),
  };
}

/**
 * Masks secrets before and after rendering, because a result's title may contain only the beginning
 * of a key.
 */
export const renderMaskedConversation = (messages: readonly ApiMessage[], origins?: readonly number[]): string =>
  maskText(renderConversation(messages.map(maskMessage), origins));

/** Files are read elsewhere, so only a page in VS Code shows local time. */
const formatTime = (at: string, webview: WebviewFrame | undefined): string =>
  webview
    ? new Date(at).toLocaleString('en', { dateStyle: 'long', timeStyle: 'short' })
    : `${at.slice(0, 10)} at ${at.slice(11, 16)} UTC`;

const CONTENT_KIND_LABELS: Readonly<Record<ContentType | 'other', string>> = {
  messageText: 'Message text',
  toolParameters: 'Tool parameters',
  toolResults: 'Tool results',
  other: 'Thinking, images, structure',
};

type TokensByKind = Readonly<Record<keyof typeof CONTENT_KIND_LABELS | 'total', number>>;

interface SizesBeforeAndAfter {
  readonly before: TokensByKind;
  readonly after: TokensByKind;
}

function measureTokensByKind(
  originalMessages: readonly ApiMessage[],
  view: readonly ApiMessage[],
  counter: MessageCounter,
): SizesBeforeAndAfter {
  const countByType = (messages: readonly ApiMessage[]): TokensByKind => {
    const tokensByKind = { messageText: 0, toolParameters: 0, toolResults: 0, other: 0, total: 0 };
    for (const message of messages) {
      for (const { type, text } of listContents(message)) tokensByKind[type] += counter.countText(text);
      tokensByKind.total += counter.countMessage(message);
    }
    const { messageText, toolParameters, toolResults, total } = tokensByKind;
    return { ...tokensByKind, other: Math.max(0, total - messageText - toolParameters - toolResults) };
  };
  return { before: countByType(originalMessages), after: countByType(view) };
}

type FormatTokens = (count: number) => string;
type FormatChange = (before: number, after: number) => string;

function renderSizeTable(
  { before, after }: SizesBeforeAndAfter,
  formatCount: FormatTokens,
  formatChange: FormatChange,
): SafeHtml {
  const kinds = Object.keys(CONTENT_KIND_LABELS) as (keyof typeof CONTENT_KIND_LABELS)[];
  const highestTokens = Math.max(1, ...kinds.map((kind) => before[kind]));
  const renderBar = (count: number, name: 'before' | 'after', y: number): SafeHtml =>
    renderHtml`<rect class="${name}" x="0" y="${y}" width="${((count / highestTokens) * 200).toFixed(1)}" height="7" />`;
  const renderRow = (kind: keyof typeof CONTENT_KIND_LABELS): SafeHtml =>
    renderHtml`<tr>
      <th scope="row">${CONTENT_KIND_LABELS[kind]}</th>
      <td class="number">${formatCount(before[kind])}</td>
      <td class="number">${formatCount(after[kind])}</td>
      <td class="number">${formatChange(before[kind], after[kind])}</td>
      <td class="bars">
        <svg viewBox="0 0 200 18" width="200" height="18" aria-hidden="true">
          ${renderBar(before[kind], 'before', 1)}${renderBar(after[kind], 'after', 10)}
        </svg>
      </td>
    </tr>`;
  return renderHtml`<section>
    <h2>Tokens before and after</h2>
    <table>
      <caption>
        Content by kind
      </caption>
      <thead>
        <tr>
          <th scope="col">Kind</th>
          <th scope="col" class="number">Before</th>
          <th scope="col" class="number">After</th>
          <th scope="col" class="number">Change</th>
          <td></td>
        </tr>
      </thead>
      <tbody>
        ${kinds.map(renderRow)}
      </tbody>
    </table>
  </section>`;
}

interface TokenCurvePoint {
  readonly message: number;
  /** Tokens of this message and all before it. */
  readonly tokens: number;
}

interface TokenCurve {
  readonly before: readonly TokenCurvePoint[];
  readonly after: readonly TokenCurvePoint[];
}

function computeTokenCurve(
  originalMessages: readonly ApiMessage[],
  view: readonly ApiMessage[],
  origins: readonly number[],
  counter: MessageCounter,
): TokenCurve {
  let tokensSoFar = 0;
  const pointsBefore = originalMessages.map((message, index) => ({
    message: index,
    tokens: (tokensSoFar += counter.countMessage(message)),
  }));
  tokensSoFar = 0;
  let lastMessage = 0;
  const pointsAfter = view.map((message, index) => {
    const origin = origins[index] ?? lastMessage;
    if (origin !== SUMMARY_ORIGIN) lastMessage = origin;
    return { message: lastMessage, tokens: (tokensSoFar += counter.countMessage(message)) };
  });
  return { before: pointsBefore, after: pointsAfter };
}

const CURVE_WIDTH = 720;
const CURVE_HEIGHT = 220;
/** The curve has at most as many points as pixels. */
const MAX_CURVE_POINTS = 360;

function renderTokenCurve({ before, after }: TokenCurve, formatCount: FormatTokens): SafeHtml {
  const lastPoint = before.at(-1);
  if (!lastPoint || before.length < 2) return renderHtml``;
  const highestTokens = Math.max(1, lastPoint.tokens, after.at(-1)?.tokens ?? 0);
  const renderPolyline = (points: readonly TokenCurvePoint[]): string =>
    [{ message: 0, tokens: 0 }, ...points]
      .filter((_, index, all) => index % Math.ceil(all.length / MAX_CURVE_POINTS) === 0 || index === all.length - 1)
      .map(({ message, tokens: count }) => {
        const x = (message / (before.length - 1)) * CURVE_WIDTH;
        return `${x.toFixed(1)},${(CURVE_HEIGHT - (count / highestTokens) * CURVE_HEIGHT).toFixed(1)}`;
      })
      .join(' ');
  const findTokensAt = (points: readonly TokenCurvePoint[], share: number): number => {
    const message = Math.round((before.length - 1) * share);
    return points.findLast((point) => point.message <= message)?.tokens ?? 0;
  };
  const renderRow = (share: number): SafeHtml =>
    renderHtml`<tr>
      <th scope="row">Message ${Math.round((before.length - 1) * share) + 1}</th>
      <td class="number">${formatCount(findTokensAt(before, share))}</td>
      <td class="number">${formatCount(findTokensAt(after, share))}</td>
    </tr>`;
  return renderHtml`<section>
    <h2>Growth</h2>
    <div class="chart">
      <div class="y" aria-hidden="true">
        <span>${formatCount(highestTokens)} tokens</span><span>${formatCount(highestTokens / 2)}</span><span>0</span>
      </div>
      <svg
        class="curve"
        viewBox="0 -2 ${CURVE_WIDTH} ${CURVE_HEIGHT + 4}"
        role="img"
        aria-labelledby="growth"
        aria-describedby="grown"
      >
        <title id="growth">Tokens from the first message to the last, before and after condensing</title>
        <desc id="grown">
          From message 1 to message ${before.length} the conversation grows to ${formatCount(lastPoint.tokens)} tokens before and
          ${formatCount(after.at(-1)?.tokens ?? 0)} after condensing. The table below has the figures.
        </desc>
        <path class="axis" d="M0 0H${CURVE_WIDTH}M0 ${CURVE_HEIGHT / 2}H${CURVE_WIDTH}M0 0V${CURVE_HEIGHT}H${CURVE_WIDTH}" />
        <polyline class="before" points="${renderPolyline(before)}" />
        <polyline class="after" points="${renderPolyline(after)}" />
      </svg>
      <div class="x" aria-hidden="true"><span>Message 1</span><span>Message ${before.length}</span></div>
    </div>
    <p class="legend"><span class="before">before</span> <span class="after">after</span></p>
    <table>
      <caption>
        Tokens up to a message
      </caption>
      <thead>
        <tr>
          <th scope="col">Up to</th>
          <th scope="col" class="number">Before</th>
          <th scope="col" class="number">After</th>
        </tr>
      </thead>
      <tbody>
        ${[0.25, 0.5, 0.75, 1].map(renderRow)}
      </tbody>
    </table>
  </section>`;
}

const isStepWithoutEffect = ({ edits, outcome }: StepReport): boolean => outcome.kind === 'done' && edits === 0;

function renderStepTable(
  steps: readonly StepReport[],
  formatCount: FormatTokens,
  formatChange: FormatChange,
): SafeHtml {
  const effectiveSteps = steps.filter((step) => !isStepWithoutEffect(step));
  const hasRemarks = effectiveSteps.some(({ outcome }) => outcome.kind !== 'done');
  const renderRow = ({ name, tokensBefore, tokensAfter, edits, timeMs, cost, outcome }: StepReport): SafeHtml =>
    renderHtml`<tr>
      <th scope="row">${maskText(name)}</th>
      <td class="number">${formatCount(tokensBefore)}</td>
      <td class="number">${formatCount(tokensAfter)}</td>
      <td class="number">${formatChange(tokensBefore, tokensAfter)}</td>
      <td class="number">${edits}</td>
      <td class="number">${formatCost(cost)}</td>
      <td class="number">${formatDurationMs(timeMs)}</td>
      ${hasRemarks ? renderHtml`<td>${outcome.kind === 'done' ? '' : maskText(`${outcome.kind}: ${outcome.reason}`)}</td>` : ''}
    </tr>`;
  const stepsWithoutEffect = steps.length - effectiveSteps.length;
  return renderHtml`<section>
    <h2>Steps</h2>
    <div class="wide" tabindex="0" role="region" aria-label="Steps">
      <table>
        <caption>
          The steps, in the order they ran
        </caption>
        <thead>
          <tr>
            <th scope="col">Step</th>
            <th scope="col" class="number">Before</th>
            <th scope="col" class="number">After</th>
            <th scope="col" class="number">Change</th>
            <th scope="col" class="number">Edits</th>
            <th scope="col" class="number">Cost</th>
            <th scope="col" class="number">Time</th>
            ${hasRemarks ? renderHtml`<th scope="col">Remark</th>` : ''}
          </tr>
        </thead>
        <tbody>
          ${effectiveSteps.map(renderRow)}
        </tbody>
      </table>
    </div>
    ${stepsWithoutEffect === 0 ? '' : renderHtml`<p>${stepsWithoutEffect === 1 ? 'One step' : `${stepsWithoutEffect} steps`} found nothing to do.</p>`}
  </section>`;
}

const FACT_LABELS: Readonly<Record<FactKind, string>> = {
  files: 'Files',
  errors: 'Error lines',
  instructions: 'Instructions',
  todos: 'To-dos',
};

function renderCoherence(coherence: CoherenceReport, withoutContent: boolean): SafeHtml {
  const renderRow = (kind: FactKind): SafeHtml =>
    renderHtml`<tr>
      <th scope="row">${FACT_LABELS[kind]}</th>
      <td class="number">${coherence[kind].kept}</td>
      <td class="number">${coherence[kind].recallable}</td>
      <td class="number">${coherence[kind].lost}</td>
    </tr>`;
  const renderExamples = (title: string, listExamples: (kind: FactKind) => readonly string[]): SafeHtml => {
    const foundExamples = withoutContent ? [] : FACT_KINDS.flatMap((kind) => listExamples(kind));
    if (foundExamples.length === 0) return renderHtml``;
    return renderHtml`<details>
      <summary>${title}, for example</summary>
      <ul>
        ${foundExamples.map((text) => renderHtml`<li><code>${text}</code></li>`)}
      </ul>
    </details>`;
  };
  return renderHtml`<section>
    <h2>Facts kept</h2>
    <table>
      <caption>
        Facts that the model still sees, can recall, or has lost
      </caption>
      <thead>
        <tr>
          <th scope="col">Kind</th>
          <th scope="col" class="number">In view</th>
          <th scope="col" class="number">Recallable</th>
          <th scope="col" class="number">Lost</th>
        </tr>
      </thead>
      <tbody>
        ${FACT_KINDS.map(renderRow)}
      </tbody>
    </table>
    ${renderExamples('Recallable', (kind) => coherence[kind].recallableExamples)}
    ${renderExamples('Lost', (kind) => coherence[kind].lostExamples)}
  </section>`;
}

interface RemovedPart {
  /** Where the content was, as text for the user. */
  readonly place: string;
  readonly reason: string;
  readonly step: string;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  readonly body: SafeHtml;
}

/** Collects places that differ from the original, in conversation order. */
function collectRemovedParts(
  originalMessages: readonly ApiMessage[],
  edits: readonly Edit[],
  counter: MessageCounter,
): RemovedPart[] {
  const nameByPlace = nameContentPlaces(originalMessages);
  const parts: (RemovedPart & { readonly message: number })[] = [];
  for (const edit of selectLastEditPerPlace(edits)) {
    // Skip an edit whose removed content has all been restored.
    if (edit.kind === 'cut' && edit.cuts.length === 0) continue;
    const message = edit.kind === 'summary' ? edit.start : edit.place.message;
    parts.push({
      message,
      place: describeEditPlace(originalMessages, edit, nameByPlace),
      reason: maskText(edit.reason),
      step: maskText(edit.step),
      ...countTokensOfEdit(originalMessages, edit, counter),
      body: renderRemovedContent(originalMessages, edit),
    });
  }
  return parts.sort((a, b) => a.message - b.message);
}

/** Counts both texts again, because an edit only knows the tokens in its own step. */
function countTokensOfEdit(
  originalMessages: readonly ApiMessage[],
  edit: Edit,
  counter: MessageCounter,
): Pick<RemovedPart, 'tokensBefore' | 'tokensAfter'> {
  switch (edit.kind) {
    case 'summary':
      return {
        tokensBefore: counter.countMessages(originalMessages.slice(edit.start, edit.end)),
        tokensAfter: counter.countMessage(edit.message),
      };
    case 'block':
      return { tokensBefore: edit.tokensBefore, tokensAfter: edit.tokensAfter };
    case 'cut': {
      const text = getValueAt(originalMessages[edit.place.message], edit.place.path);
      if (typeof text !== 'string') return { tokensBefore: 0, tokensAfter: 0 };
      return { tokensBefore: counter.countText(text), tokensAfter: counter.countText(renderCuts(text, edit.cuts)) };
    }
  }
}

function describeEditPlace(
  originalMessages: readonly ApiMessage[],
  edit: Edit,
  names: ReadonlyMap<string, string>,
): string {
  if (edit.kind === 'summary') return `Messages ${edit.start + 1} to ${edit.end}`;
  const { message, path } = edit.place;
  const name = `Message ${message + 1}`;
  return edit.kind === 'block'
    ? `${name} · ${describeBlockType(getValueAt(originalMessages[message], path))}`
    : (names.get(makePlaceKey(edit.place)) ?? name);
}

/**
 * Characters kept at each end of a long name: a command is recognized by its start, a path by its
 * end.
 */
const NAME_START_CHARS = 40;
const NAME_END_CHARS = 80;

/**
 * Names each place of content: by the tool and the first short parameter of its call, or else by
 * the message's role.
 */
function nameContentPlaces(originalMessages: readonly ApiMessage[]): Map<string, string> {
  const titleByPlace = new Map<string, string>();
  for (const [index, message] of originalMessages.entries()) {
    for (const { path } of listContents(message)) {
      titleByPlace.set(makePlaceKey({ message: index, path }), `Message ${index + 1} · ${message.role}`);
    }
  }
  for (const { tool, input, parameters, results } of listToolExchanges(originalMessages)) {
    const firstText = Object.values(input).find((value) => typeof value === 'string' && /^[^\n]{1,400}$/.test(value));
    const fullName = maskText(`${tool}${typeof firstText === 'string' ? ` ${firstText}` : ''}`);
    const isLong = fullName.length > NAME_START_CHARS + NAME_END_CHARS;
    const shortName = isLong ? `${fullName.slice(0, NAME_START_CHARS)}…${fullName.slice(-NAME_END_CHARS)}` : fullName;
    for (const part of parameters)
      titleByPlace.set(makePlaceKey(getContentPlace(part)), `Message ${part.message + 1} · call of ${shortName}`);
    for (const part of results)
      titleByPlace.set(makePlaceKey(getContentPlace(part)), `Message ${part.message + 1} · result of ${shortName}`);
  }
  return titleByPlace;
}

function renderRemovedContent(originalMessages: readonly ApiMessage[], edit: Edit): SafeHtml {
  switch (edit.kind) {
    case 'summary': {
      const replacedText = renderMaskedConversation(originalMessages.slice(edit.start, edit.end));
      return renderHtml`<pre><ins>${renderMaskedConversation([edit.message], [SUMMARY_ORIGIN])}</ins></pre>
        <details>
          <summary>The messages that it replaced</summary>
          <pre><del>${replacedText}</del></pre>
        </details>`;
    }
    case 'block': {
      const description = describeBlock(getValueAt(originalMessages[edit.place.message], edit.place.path));
      return renderHtml`<pre><del>${description}</del><ins>${edit.placeholder?.text ?? ''}</ins></pre>`;
    }
    case 'cut':
      return renderTextWithCuts(getValueAt(originalMessages[edit.place.message], edit.place.path), edit);
  }
}

/** Describes images and documents by size, because Base64 is not readable. */
export function describeBlock(block: unknown): string {
  if (!isRecord(block)) return '';
  const { thinking } = block;
  if (typeof thinking === 'string') return maskText(thinking);
  return `${describeBlockType(block)}, ${formatTokens(JSON.stringify(block).length)} characters`;
}

const describeBlockType = (block: unknown): string =>
  isRecord(block) && typeof block['type'] === 'string' ? maskText(block['type'].replaceAll('_', ' ')) : 'block';

function renderTextWithCuts(text: unknown, { cuts }: CutEdit): SafeHtml {
  if (typeof text !== 'string') return renderHtml``;
  const maskedText = maskText(text);
  // Masking changes offsets, and a key split by a cut would not be recognized.
  if (maskedText !== text) {
    const markers = cuts.flatMap((cut) => (cut.text === '' ? [] : [renderHtml`<ins>${maskText(cut.text)}</ins> `]));
    return renderHtml`<p>
        This text contains what looks like a key, which is masked. It is shown in full; the markers that replaced parts
        of it come first.
      </p>
      <pre>${markers}${maskedText}</pre>`;
  }
  const parts: SafeHtml[] = [];
  let position = 0;
  for (const { start, end, text: marker } of cuts) {
    parts.push(renderKeptText(text.slice(position, start)));
    parts.push(renderHtml`<del>${text.slice(start, end)}</del>`);
    if (marker !== '') parts.push(renderHtml`<ins>${maskText(marker)}</ins>`);
    position = end;
  }
  return renderHtml`<pre>${[...parts, renderKeptText(text.slice(position))]}</pre>`;
}

/** Number of unchanged lines shown beside a change; more would hide what was removed. */
const CONTEXT_LINES = 3;

function renderKeptText(text: string): SafeHtml {
  const lines = text.split(/\r?\n/);
  const hiddenCount = lines.length - 2 * CONTEXT_LINES;
  if (hiddenCount <= 2) return renderHtml`${text}`;
  const firstLines = lines.slice(0, CONTEXT_LINES).concat('').join('\n');
  const lastLines = [''].concat(lines.slice(-CONTEXT_LINES)).join('\n');
  const unchangedNote = renderHtml`<span class="unchanged">${hiddenCount} lines unchanged</span>`;
  // All on one line, because whitespace in this template would appear on the page.
  return renderHtml`${firstLines}${unchangedNote}${lastLines}`;
}

function renderRemovedParts(
  parts: readonly RemovedPart[],
  formatCount: FormatTokens,
  withoutContent: boolean,
): SafeHtml {
  const description = withoutContent
    ? renderHtml`<p>The conversation’s text was left out of this report.</p>`
    : renderHtml`<p>
        ${parts.length} ${parts.length === 1 ? 'place' : 'places'}. Expand a place to read what was removed there. Keys
        are masked.
      </p>`;
  const renderPart = ({ place, reason, step, tokensBefore, tokensAfter, body }: RemovedPart): SafeHtml =>
    renderHtml`<details>
      <summary>${place} <span class="tokens">${formatCount(tokensBefore)} → ${formatCount(tokensAfter)} tokens</span></summary>
      <p>${step} <span class="size">(${reason})</span></p>
      ${body}
    </details>`;
  return renderHtml`<section>
    <h2>Removed content</h2>
    ${description} ${parts.map(renderPart)}
  </section>`;
}

const renderNotes = (notes: readonly string[]): SafeHtml =>
  notes.length === 0
    ? renderHtml``
    : renderHtml`<section>
        <h2>Notes</h2>
        <ul>
          ${notes.map((note) => renderHtml`<li>${maskText(note)}</li>`)}
        </ul>
      </section>`;
