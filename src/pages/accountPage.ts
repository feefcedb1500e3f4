/** The account as one HTML page without network or script: charts and their tables. */
import { html, Html } from './html';
import { formatPercent, formatShare } from '../core/percent';
import { plural } from '../core/plural';
import { fillShare, fillTokens } from '../core/account/fillLevel';
import { formatTokens } from '../core/format';
import { renderPage } from './page';
import { GROUPINGS, type AccountOverview, type AccountRow, type Grouping } from '../core/account/account';
import { PART_KINDS, PART_WORDS } from '../core/account/parts';
import type { WhatIfSum } from '../core/account/whatIf';
import {
  COMPACTION_WORDS,
  formatMoney,
  periodWords,
  estimatedWords,
  replayedWords,
  sentOftenWords,
  treeWords,
  uncomposedWords,
  unreadWords,
  WHAT_IF_ASSUMED,
  whatIfCounts,
  whatIfHeadline,
} from '../core/account/words';

const TITLES: Readonly<Record<Grouping, string>> = {
  agent: 'By agent',
  project: 'By project',
  model: 'By model',
  block: 'By five-hour block',
  day: 'By day',
  week: 'By week',
  session: 'By session',
};

export interface AccountPageOptions {
  /** The product's version. */
  readonly version: string;
  /** Limited to requests of this many days; absent: all. */
  readonly days?: number | undefined;
  /** The cost with another provider, if requested. */
  readonly whatIf?: { readonly sum: WhatIfSum; readonly name: string } | undefined;
}

export function renderAccountPage(
  { total, groups, sessions }: AccountOverview,
  { version, days, whatIf }: AccountPageOptions,
): string {
  const { compactions } = total;
  return renderPage(
    'What the agents on this machine cost',
    html`<header>
        <h1>What the agents on this machine cost</h1>
        <p class="lead">
          ${periodWords(days)}: <strong>${formatMoney(total)}</strong> for ${plural(total.requests, 'request')} in
          ${[plural(total.sessions, 'session'), estimatedWords(total), unreadWords(total)].filter((words) => words !== '').join('; ')}
        </p>
        ${total.replayed > 0 ? html`<p>${plural(total.replayed, 'request')} ${replayedWords(total.replayed, total)}.</p>` : html``}
        ${compactions.count > 0 ? html`<p>${COMPACTION_WORDS(compactions)}.</p>` : html``}
        <p>
          Costs are in US dollars, at the price table’s prices; subscriptions are not taken into account. Context
          Condenser ${version}.
        </p>
      </header>
      ${whatIf ? renderWhatIf(whatIf, days) : html``} ${renderDays(groups.day)} ${renderParts(total)}
      ${GROUPINGS.filter((grouping) => grouping !== 'day').map((grouping) =>
        renderRows(TITLES[grouping], groups[grouping]),
      )}
      ${renderFillLevels(sessions)} ${renderWaste(total)}`,
  );
}

const renderWhatIf = ({ sum, name }: NonNullable<AccountPageOptions['whatIf']>, days: number | undefined): Html =>
  html`<section>
    <h2>What it would have cost with ${name}</h2>
    <p>${whatIfHeadline(sum, periodWords(days), name)}</p>
    <p>${whatIfCounts(sum)} ${WHAT_IF_ASSUMED}</p>
  </section>`;

const WIDTH = 640;
const HEIGHT = 120;

/** A bar for each day, and a table with the same figures. */
function renderDays(days: readonly AccountRow[]): Html {
  const most = Math.max(...days.map(({ cost }) => cost), 0);
  const step = WIDTH / Math.max(1, days.length);
  const bars = days.map(({ key, cost }, index) => {
    const height = most === 0 ? 0 : (cost / most) * HEIGHT;
    const x = (index * step).toFixed(1);
    const y = (HEIGHT - height).toFixed(1);
    return html`<rect class="after" x="${x}" y="${y}" width="${(step * 0.8).toFixed(1)}" height="${height.toFixed(1)}">
      <title>${key}: $${cost.toFixed(2)}</title>
    </rect>`;
  });
  const chart = html`<svg
    class="curve"
    viewBox="-4 -4 ${WIDTH + 8} ${HEIGHT + 8}"
    role="img"
    aria-label="Cost per day, highest $${most.toFixed(2)}. The table below has the figures."
  >
    <path class="axis" d="M0 0V${HEIGHT}H${WIDTH}" />
    ${bars}
  </svg>`;
  return html`<section>
    <h2>${TITLES.day}</h2>
    ${most > 0 ? chart : html``} ${renderTable(TITLES.day, days)}
  </section>`;
}

const renderRows = (title: string, rows: readonly AccountRow[]): Html =>
  html`<section>
    <h2>${title}</h2>
    ${renderTable(title, rows)}
  </section>`;

function renderTable(title: string, rows: readonly AccountRow[]): Html {
  const line = (row: AccountRow): Html =>
    html`<tr>
      <th scope="row" ${title === TITLES.day ? new Html(' style="white-space: nowrap"') : ''}>
        ${'↳ '.repeat(Math.min(row.tree?.depth ?? 0, 4))}${row.label}
      </th>
      <td class="number">${formatTokens(row.requests)}</td>
      <td class="number">${formatTokens(row.fresh)}</td>
      <td class="number">${formatTokens(row.cacheWrite)}</td>
      <td class="number">${formatTokens(row.cacheRead)}</td>
      <td class="number">${formatTokens(row.output)}</td>
      <td>
        ${formatMoney(row)}${row.replayed > 0 ? `, ${plural(row.replayed, 'request')} replayed` : ''}${treeWords(row) === '' ? '' : `; ${treeWords(row)}`}
      </td>
    </tr>`;
  return html`<div class="wide" tabindex="0" role="region" aria-label="${title}: requests, tokens and cost">
    <table>
      <thead>
        <tr>
          <td></td>
          <th scope="col" class="number">Requests</th>
          <th scope="col" class="number">Fresh</th>
          <th scope="col" class="number">To cache</th>
          <th scope="col" class="number">From cache</th>
          <th scope="col" class="number">Output</th>
          <th scope="col">Cost</th>
        </tr>
      </thead>
      <tbody>
        ${rows.map(line)}
      </tbody>
    </table>
  </div>`;
}

/** Bars as wide as the shares, with figures beside them. */
function renderParts({ parts, sentOften, uncomposed }: AccountOverview['total']): Html {
  const sent = PART_KINDS.reduce((sum, kind) => sum + parts[kind], 0);
  if (sent === 0) return html``;
  const row = (words: string, tokens: number): Html => {
    const share = (100 * tokens) / sent;
    return html`<tr>
      <th scope="row">${words}</th>
      <td class="number">${formatPercent(share, 1)}</td>
      <td class="bars" aria-hidden="true">
        <svg width="200" height="12"><rect class="after" width="${(2 * share).toFixed(1)}" height="12" /></svg>
      </td>
    </tr>`;
  };
  return html`<section>
    <h2>What the requests contained</h2>
    <table>
      <caption>
        Shares of all tokens sent: what was sent ten times counts ten times
      </caption>
      <tbody>
        ${PART_KINDS.filter((kind) => parts[kind] > 0)
          .sort((a, b) => parts[b] - parts[a])
          .map((kind) => row(PART_WORDS[kind], parts[kind]))}
      </tbody>
    </table>
    <p>${sentOftenWords(sentOften, sent)} ${uncomposedWords({ uncomposed })}</p>
  </section>`;
}

/** How full the window was, over the session's requests. */
function renderFillLevels(sessions: AccountOverview['sessions']): Html {
  const line = ({ title, fill, window, now, compactions }: AccountOverview['sessions'][number]): Html => {
    const peak = Math.max(...fill, 0);
    const most = Math.max(window ?? peak, peak, 1);
    const points = fill
      .map((tokens, index) => {
        const x = (index / Math.max(1, fill.length - 1)) * 120;
        return `${x.toFixed(1)},${(24 - (tokens / most) * 24).toFixed(1)}`;
      })
      .join(' ');
    const full = window === undefined ? 'window not known' : `${formatShare(peak, window, 0)} of the window`;
    return html`<tr>
      <th scope="row">${title}</th>
      <td aria-hidden="true">
        <svg class="curve" style="width: 120px" viewBox="0 -2 120 28">
          <polyline class="after" points="${points}" />
        </svg>
      </td>
      <td>at most ${formatTokens(peak)} tokens, ${full}</td>
      <td>
        ${now?.window === undefined ? '' : `${fillShare(now, now.window)}, `}${now ? fillTokens(now) : 'not known'}
      </td>
      <td class="number">${compactions.count}</td>
    </tr>`;
  };
  if (sessions.length === 0) return html``;
  return html`<section>
    <h2>How full the window was</h2>
    <div class="wide" tabindex="0" role="region" aria-label="How full the window was">
      <table>
        <thead>
          <tr>
            <th scope="col">Session</th>
            <td></td>
            <th scope="col">Largest request</th>
            <th scope="col">Now</th>
            <th scope="col" class="number">Compactions</th>
          </tr>
        </thead>
        <tbody>
          ${sessions.map(line)}
        </tbody>
      </table>
    </div>
  </section>`;
}

function renderWaste({ files, unused }: AccountOverview['total']): Html {
  const list = (title: string, lines: readonly string[]): Html =>
    lines.length === 0
      ? html``
      : html`<section>
          <h2>${title}</h2>
          <ul>
            ${lines.map((each) => html`<li>${each}</li>`)}
          </ul>
        </section>`;
  return html`${list(
    'Files read again and again',
    files.map(
      ({ path, reads, tokens, session }) =>
        `${path}: ${plural(reads, 'read')}, ${formatTokens(tokens)} tokens (${session})`,
    ),
  )}
  ${list(
    'Results that were never used again',
    unused.map(
      ({ tool, what, tokens, sent, session }) =>
        `${[tool, what].join(' ').trim()}: ${formatTokens(tokens)} tokens, sent ${plural(sent, 'time')} (${session})`,
    ),
  )}`;
}
