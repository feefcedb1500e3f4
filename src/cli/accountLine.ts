import { groupAccountInRows, sumSessionAccounts, type AccountRow, type SessionAccount } from '../core/account/account';
import { USAGE_BLOCK_MS } from '../core/account/blocks';
import { computeCostRange } from '../core/account/words';
import { formatLocalDay } from '../core/localDay';
import { formatPlural } from '../core/plural';

export interface AccountLineOptions {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** The current folder. If no session is named, its newest one is "this session". */
  readonly cwd: string;
  /** ID or path of a session. */
  readonly session?: string | undefined;
}

/**
 * Formats "Today $4.10 · 5-hour block $2.30, until 19:00 · session $0.80". The block is that of the
 * session's agent.
 */
export function formatAccountLine(
  sessions: readonly SessionAccount[],
  { now, cwd, session: sessionName }: AccountLineOptions,
): string {
  const todaysTotal = sumSessionAccounts(filterUsage(sessions, ({ day }) => day === formatLocalDay(now)));
  const session =
    sessionName === undefined ? findNewestSessionOfProject(sessions, cwd) : findSessionByName(sessions, sessionName);
  const parts = [`Today ${formatShortMoney(todaysTotal)}`];
  const agent = session?.agent;
  const sessionsInBlock = filterUsage(
    sessions.filter((each) => agent === undefined || each.agent === agent),
    (usage) => usage.block <= now && now < usage.block + USAGE_BLOCK_MS,
  );
  const blockStart = sessionsInBlock.flatMap(({ usage }) => usage.map((each) => each.block)).at(0);
  if (blockStart !== undefined)
    parts.push(
      `5-hour block ${formatShortMoney(sumSessionAccounts(sessionsInBlock))}, until ${formatClockTime(blockStart + USAGE_BLOCK_MS)}`,
    );
  const sessionRow = session && groupAccountInRows(sessions, 'session').find(({ key }) => key === session.path);
  if (sessionRow) parts.push(`session ${formatShortMoney({ ...sessionRow, ...sessionRow.tree })}`);
  return parts.join(' · ');
}

const filterUsage = (
  sessions: readonly SessionAccount[],
  isWanted: (usage: SessionAccount['usage'][number]) => boolean,
): SessionAccount[] =>
  sessions.map((each) => ({ ...each, usage: each.usage.filter(isWanted) })).filter(({ usage }) => usage.length > 0);

function findNewestSessionOfProject(sessions: readonly SessionAccount[], cwd: string): SessionAccount | undefined {
  const ownSessions = sessions.filter(({ project, above }) => project === cwd && above?.relation !== 'subagent');
  const findLastUse = ({ usage }: SessionAccount): string =>
    usage.reduce((latestTime, { day, block }) => {
      const time = `${day} ${block}`;
      return time > latestTime ? time : latestTime;
    }, '');
  const candidates = ownSessions.length > 0 ? ownSessions : sessions;
  // Sessions are sorted newest first by their files' time. If two were last used in the same block,
  // the first one wins.
  return candidates.reduce<SessionAccount | undefined>(
    (newest, each) => (newest && findLastUse(newest) >= findLastUse(each) ? newest : each),
    undefined,
  );
}

/** The name is an ID or a path: Claude Code's status line passes those of its session. */
const findSessionByName = (sessions: readonly SessionAccount[], name: string): SessionAccount | undefined =>
  sessions.find(({ path, id }) => path === name || id === name || id.endsWith(`:${name}`));

function formatShortMoney(money: Pick<AccountRow, 'cost' | 'replayedCost' | 'unpriced' | 'requests'>): string {
  if (money.unpriced > 0 && money.cost === 0) return formatPlural(money.requests, 'request');
  const { least, most } = computeCostRange(money);
  const range = least === most ? `$${least.toFixed(2)}` : `$${least.toFixed(2)} to $${most.toFixed(2)}`;
  return money.unpriced > 0 ? `${range}+` : range;
}

/** Local time of day, such as `19:00`. */
function formatClockTime(at: number): string {
  const date = new Date(at);
  return [date.getHours(), date.getMinutes()].map((part) => String(part).padStart(2, '0')).join(':');
}
