/** The costs of sessions as a page that needs no network and no script. */
import { renderHtml, SafeHtml } from './html';
import { formatPercent, formatShare } from '../core/percent';
import { formatPlural } from '../core/plural';
import { formatFillShare, formatFillTokens } from '../core/account/fillLevel';
import { formatTokens } from '../core/format';
import { renderPage } from './page';
import { GROUPINGS, type AccountOverview, type AccountRow, type Grouping } from '../core/account/account';
import { placeDayBars } from '../core/account/timeAxis';
import { PART_KINDS, PART_LABELS } from '../core/account/parts';
import type { WhatIfSum } from '../core/account/whatIf';
import {
  describeCompactions,
  formatAccountCost,
  describePeriod,
  describeEstimatedSessions,
  describeReplayedRequests,
  describeTokensSentOften,
  describeSessionTree,
  describeSessionsWithoutParts,
  describeUnreadSessions,
  WHAT_IF_ASSUMPTIONS,
  describeWhatIfCounts,
  formatWhatIfHeadline,
} from '../core/account/words';

const GROUPING_TITLES: Readonly<Record<Grouping, string>> = {
  agent: 'By agent',
  project: 'By project',
  model: 'By model',
  block: 'By five-hour block',
  day: 'By day',
  week: 'By week',
  session: 'By session',
};

export interface AccountPageOptions {
  readonly version: string;
  /** If set, the account covers only this many days, including today. */
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
    renderHtml`<header>
        <h1>What the agents on this machine cost</h1>
        <p class="lead">
          ${describePeriod(days)}: <strong>${formatAccountCost(total)}</strong> for ${formatPlural(total.requests, 'request')} in
          ${[formatPlural(total.sessions, 'session'), describeEstimatedSessions(total), describeUnreadSessions(total)].filter((text) => text !== '').join('; ')}
        </p>
        ${total.replayed > 0 ? renderHtml`<p>${formatPlural(total.replayed, 'request')} ${describeReplayedRequests(total.replayed, total)}.</p>` : renderHtml``}
        ${compactions.count > 0 ? renderHtml`<p>${describeCompactions(compactions)}.</p>` : renderHtml``}
        <p>
          Costs are in US dollars, at the price table’s prices; subscriptions are not taken into account. Context
          Condenser ${version}.
        </p>
      </header>
      ${whatIf ? renderWhatIfSection(whatIf, days) : renderHtml``} ${renderDailyCostChart(groups.day)} ${renderTokensByPart(total)}
      ${GROUPINGS.filter((grouping) => grouping !== 'day').map((grouping) =>
        renderAccountRows(GROUPING_TITLES[grouping], groups[grouping]),
      )}
      ${renderFillLevels(sessions)} ${renderFilesAndUnusedResults(total)}`,
  );
}

const renderWhatIfSection = (
  { sum, name }: NonNullable<AccountPageOptions['whatIf']>,
  days: number | undefined,
): SafeHtml =>
  renderHtml`<section>
    <h2>What it would have cost with ${name}</h2>
    <p>${formatWhatIfHeadline(sum, describePeriod(days), name)}</p>
    <p>${describeWhatIfCounts(sum)} ${WHAT_IF_ASSUMPTIONS}</p>
  </section>`;

const CHART_WIDTH = 640;
const CHART_HEIGHT = 120;

function renderDailyCostChart(days: readonly AccountRow[]): SafeHtml {
  const highestCost = Math.max(...days.map(({ cost }) => cost), 0);
  const keys = days.map(({ key }) => key);
  const placedBars = placeDayBars(keys, CHART_WIDTH);
  const bars = days.map(({ key, cost }, index) => {
    const { x = 0, width = 0 } = placedBars[index] ?? {};
    const height = highestCost === 0 ? 0 : (cost / highestCost) * CHART_HEIGHT;
    const y = (CHART_HEIGHT - height).toFixed(1);
    return renderHtml`<rect class="after" x="${x.toFixed(1)}" y="${y}" width="${width.toFixed(1)}" height="${height.toFixed(1)}">
      <title>${key}: $${cost.toFixed(2)}</title>
    </rect>`;
  });
  const chart = renderHtml`<div class="chart">
    <div class="y" aria-hidden="true"><span>$${highestCost.toFixed(2)}</span><span>$0</span></div>
    <svg
      class="curve"
      viewBox="0 0 ${CHART_WIDTH} ${CHART_HEIGHT + 1}"
      role="img"
      aria-label="Cost per day, highest $${highestCost.toFixed(2)}. The table below has the figures."
    >
      <path class="axis" d="M0 0V${CHART_HEIGHT}H${CHART_WIDTH}" />
      ${bars}
    </svg>
    <div class="x" aria-hidden="true">${[...new Set([keys[0], keys.at(-1)])].map((day = '') => renderHtml`<span>${day}</span>`)}</div>
  </div>`;
  return renderHtml`<section>
    <h2>${GROUPING_TITLES.day}</h2>
    ${highestCost > 0 ? chart : renderHtml``} ${renderAccountTable(GROUPING_TITLES.day, days)}
  </section>`;
}

const renderAccountRows = (title: string, rows: readonly AccountRow[]): SafeHtml =>
  renderHtml`<section>
    <h2>${title}</h2>
    ${renderAccountTable(title, rows)}
  </section>`;

function renderAccountTable(title: string, rows: readonly AccountRow[]): SafeHtml {
  const renderLine = (row: AccountRow): SafeHtml =>
    renderHtml`<tr>
      <th scope="row" ${title === GROUPING_TITLES.day ? new SafeHtml(' style="white-space: nowrap"') : ''}>
        ${'↳ '.repeat(Math.min(row.tree?.depth ?? 0, 4))}${row.label}
      </th>
      <td class="number">${formatTokens(row.requests)}</td>
      <td class="number">${formatTokens(row.fresh)}</td>
      <td class="number">${formatTokens(row.cacheWrite)}</td>
      <td class="number">${formatTokens(row.cacheRead)}</td>
      <td class="number">${formatTokens(row.output)}</td>
      <td>
        ${formatAccountCost(row)}${row.replayed > 0 ? `, ${formatPlural(row.replayed, 'request')} estimated` : ''}${describeSessionTree(row) === '' ? '' : `; ${describeSessionTree(row)}`}
      </td>
    </tr>`;
  return renderHtml`<div class="wide" tabindex="0" role="region" aria-label="${title}: requests, tokens and cost">
    <table>
      <thead>
        <tr>
          <td></td>
          <th scope="col" class="number">Requests</th>
          <th scope="col" class="number">Input, not cached</th>
          <th scope="col" class="number">Cache writes</th>
          <th scope="col" class="number">Cache reads</th>
          <th scope="col" class="number">Output</th>
          <th scope="col">Cost</th>
        </tr>
      </thead>
      <tbody>
        ${rows.map(renderLine)}
      </tbody>
    </table>
  </div>`;
}

function renderTokensByPart({ parts, sentOften, uncomposed }: AccountOverview['total']): SafeHtml {
  const sentTokens = PART_KINDS.reduce((sum, kind) => sum + parts[kind], 0);
  if (sentTokens === 0) return renderHtml``;
  const renderRow = (label: string, tokens: number): SafeHtml => {
    const percentOfSent = (100 * tokens) / sentTokens;
    return renderHtml`<tr>
      <th scope="row">${label}</th>
      <td class="number">${formatPercent(percentOfSent, 1)}</td>
      <td class="bars" aria-hidden="true">
        <svg width="200" height="12"><rect class="after" width="${(2 * percentOfSent).toFixed(1)}" height="12" /></svg>
      </td>
    </tr>`;
  };
  return renderHtml`<section>
    <h2>What the requests contained</h2>
    <table>
      <caption>
        Shares of all tokens sent: what was sent ten times counts ten times
      </caption>
      <tbody>
        ${PART_KINDS.filter((kind) => parts[kind] > 0)
          .sort((a, b) => parts[b] - parts[a])
          .map((kind) => renderRow(PART_LABELS[kind], parts[kind]))}
      </tbody>
    </table>
    <p>${describeTokensSentOften(sentOften, sentTokens)} ${describeSessionsWithoutParts({ uncomposed })}</p>
  </section>`;
}

function renderFillLevels(sessions: AccountOverview['sessions']): SafeHtml {
  const renderLine = ({ title, fill, window, now, compactions }: AccountOverview['sessions'][number]): SafeHtml => {
    const peakTokens = Math.max(...fill, 0);
    const scaleTokens = Math.max(window ?? peakTokens, peakTokens, 1);
    const curvePoints = fill
      .map((tokens, index) => {
        const x = (index / Math.max(1, fill.length - 1)) * 120;
        return `${x.toFixed(1)},${(24 - (tokens / scaleTokens) * 24).toFixed(1)}`;
      })
      .join(' ');
    const peakText = window === undefined ? 'window not known' : `${formatShare(peakTokens, window, 0)} of the window`;
    return renderHtml`<tr>
      <th scope="row">${title}</th>
      <td aria-hidden="true">
        <svg class="curve" style="width: 120px" viewBox="0 -2 120 28">
          <polyline class="after" points="${curvePoints}" />
        </svg>
      </td>
      <td>at most ${formatTokens(peakTokens)} tokens, ${peakText}</td>
      <td>
        ${now?.window === undefined ? '' : `${formatFillShare(now, now.window)}, `}${now ? formatFillTokens(now) : 'not known'}
      </td>
      <td class="number">${compactions.count}</td>
    </tr>`;
  };
  if (sessions.length === 0) return renderHtml``;
  return renderHtml`<section>
    <h2>How full the window was</h2>
    <div class="wide" tabindex="0" role="region" aria-label="How full the window was">
      <table>
        <thead>
          <tr>
            <th scope="col">Session</th>
            <td></td>
            <th scope="col">Largest request with its answer</th>
            <th scope="col">Now</th>
            <th scope="col" class="number">Compactions</th>
          </tr>
        </thead>
        <tbody>
          ${sessions.map(renderLine)}
        </tbody>
      </table>
    </div>
  </section>`;
}

function renderFilesAndUnusedResults({ files, unused }: AccountOverview['total']): SafeHtml {
  const renderList = (title: string, lines: readonly string[]): SafeHtml =>
    lines.length === 0
      ? renderHtml``
      : renderHtml`<section>
          <h2>${title}</h2>
          <ul>
            ${lines.map((each) => renderHtml`<li>${each}</li>`)}
          </ul>
        </section>`;
  return renderHtml`${renderList(
    'Files read again and again',
    files.map(
      ({ path, reads, tokens, session }) =>
        `${path}: ${formatPlural(reads, 'read')}, ${formatTokens(tokens)} tokens (${session})`,
    ),
  )}
  ${renderList(
    'Results that were never used again',
    unused.map(
      ({ tool, what, tokens, sent, session }) =>
        `${[tool, what].join(' ').trim()}: ${formatTokens(tokens)} tokens, sent ${formatPlural(sent, 'time')} (${session})`,
    ),
  )}`;
}
