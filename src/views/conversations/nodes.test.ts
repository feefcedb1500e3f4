import { describe, expect, it } from 'vitest';
import { makeConversationTitle } from '../../conversations/title';
import type { LiveSummary } from '../../live/types';
import type { LiveId } from '../../live/request';
import type { IndexedConversation } from '../../background/conversationIndex';
import type { CondensationOutline, LedgerOutline } from '../../background/taskResults';
import type { CondensationId } from '../../core/condense/ledger/ledger';
import { LoadedLedgers } from './ledgers';
import {
  createAgentNodes,
  CHAT_AGENT_NAME,
  NO_FILTER,
  CONVERSATIONS_PER_PAGE,
  getShownChildren,
  findShownCondensation,
  findUndoneCondensation,
} from './nodes';
import { createTreeItem } from './treeItem';

const found = (path: string, changes: Partial<IndexedConversation> = {}): IndexedConversation => ({
  agent: 'Claude Code',
  path,
  modified: 0,
  bytes: 10,
  details: {
    path,
    modified: 0,
    bytes: 10,
    isComplete: true,
    id: `id-${path}`,
    title: `Title of ${path}`,
    tokens: 4_000,
    fill: { tokens: 5_000, window: 10_000, isRecorded: true },
  },
  ...changes,
});

const condensation = (id: string, changes: Partial<CondensationOutline> = {}): CondensationOutline => ({
  id: id as CondensationId,
  at: '2026-01-01T00:00:00.000Z',
  provider: 'lossless',
  tokensBefore: 1_000,
  tokensAfter: 600,
  isUndone: false,
  isReplaced: false,
  steps: [],
  ...changes,
});

const ledgersOf = (...ledgers: LedgerOutline[]): LoadedLedgers => {
  const known = new LoadedLedgers();
  known.applyLedgersResult({
    known: ledgers.map(({ conversation }) => conversation),
    ledgers,
    lastUsed: 7,
    givenBack: [{ conversation: 'id-given', path: '/copy.jsonl' }],
  });
  return known;
};

const live: LiveSummary = {
  id: 'live-1' as LiveId,
  title: 'Fix the chat',
  tokens: 30_000,
  contextWindow: 60_000,
  thresholdTokens: 45_000,
  messages: 3,
  condensations: [],
  canUndo: false,
  canRedo: false,
  pinned: [],
  isCareful: false,
  lastUsed: 0,
  isPreparing: false,
};

const labels = (stored: readonly IndexedConversation[], filter = NO_FILTER): string[][] =>
  createAgentNodes({ live: [], stored, ledgers: ledgersOf() }, filter).map(({ agent, children }) => [
    agent,
    ...children.map((node) => (node.kind === 'conversation' ? node.found.path : '')),
  ]);

const facts = { now: 120_000, contextWindow: 10_000 };
const given = (path: string, workspace: string, changes = {}): IndexedConversation =>
  found(path, { workspace, details: undefined, ...changes });

describe('the tree in the conversations view', () => {
  it('lists agents by last use, with the chat first', () => {
    const stored = [found('b', { agent: 'Codex' }), found('a'), found('c', { agent: 'Codex' })];
    expect(labels(stored)).toEqual([
      ['Codex', 'b', 'c'],
      ['Claude Code', 'a'],
    ]);
    const [first] = createAgentNodes({ live: [live], stored, ledgers: ledgersOf() }, NO_FILTER);
    expect(first?.agent).toBe(CHAT_AGENT_NAME);
  });

  it("puts agents and conversations of this window's folders first", () => {
    const stored = [
      given('new', '/work/other'),
      given('codex', '/work/apple', { agent: 'Codex' }),
      given('old', '/work/app/sub', { agent: 'Codex' }),
      given('older', '/work/app', { agent: 'Codex' }),
    ];
    const nodes = createAgentNodes({ live: [], stored, ledgers: ledgersOf(), here: ['/work/app'] }, NO_FILTER);
    const paths = nodes.flatMap(({ children }) =>
      children.map((node) => node.kind === 'conversation' && node.found.path),
    );
    expect(paths).toEqual(['old', 'older', 'codex', 'new']);
  });

  it('expands the first agent and agents that run', () => {
    const stored = [found('a'), found('b', { agent: 'Codex' })];
    const states = createAgentNodes({ live: [], stored, ledgers: ledgersOf() }, NO_FILTER).map(
      (node) => createTreeItem(node, { ...facts, openAgent: 'Claude Code' }).collapsibleState,
    );
    expect(states).toEqual([2, 1]);
  });

  it("lists an agent's running conversations before its stored ones", () => {
    const running = { ...live, agent: 'Codex', folder: '/work/app' };
    const [first, second] = createAgentNodes(
      { live: [running], stored: [found('a'), found('b', { agent: 'Codex' })], ledgers: ledgersOf() },
      NO_FILTER,
    );
    expect([first?.agent, second?.agent]).toEqual(['Codex', 'Claude Code']);
    expect(first?.children.map(({ kind }) => kind)).toEqual(['live', 'conversation']);
    const item = createTreeItem(first!.children[0]!, facts);
    expect(item.contextValue).toBe('live');
    expect(item.tooltip).toContain('Running in /work/app');
  });

  it('lists what VS Code stored of a chat below its live row, by the ID that both have', () => {
    const list = (id: string) => {
      const details = { ...found('chat').details!, id };
      const stored = [found('chat', { agent: 'VS Code', details })];
      const liveChat = { ...live, conversationId: '5cf9' };
      const [agent] = createAgentNodes({ live: [liveChat], stored, ledgers: ledgersOf() }, NO_FILTER);
      return agent?.children.map(({ kind, children }) => [kind, children.length]);
    };
    expect([list('vscode:5cf9'), list('vscode:other')]).toEqual([
      [['live', 1]],
      [
        ['live', 0],
        ['conversation', 0],
      ],
    ]);
  });

  it("lists a subagent's conversation below its parent if that exists", () => {
    const stored = [found('child', { parent: 'a' }), found('a'), found('orphan', { parent: 'gone' })];
    const [agent] = createAgentNodes({ live: [], stored, ledgers: ledgersOf() }, NO_FILTER);
    expect(
      agent?.children.map((node) => (node.kind === 'conversation' ? [node.found.path, node.children.length] : [])),
    ).toEqual([
      ['a', 1],
      ['orphan', 0],
    ]);
  });

  it('lists nested subagents below the task, and stops if parents are circular', () => {
    const stored = [
      found('grandchild', { parent: 'child' }),
      found('child', { parent: 'a' }),
      found('a'),
      found('x', { parent: 'y' }),
      found('y', { parent: 'x' }),
    ];
    const [agent] = createAgentNodes({ live: [], stored, ledgers: ledgersOf() }, NO_FILTER);
    expect(agent?.children).toMatchObject([
      { found: { path: 'a' }, children: [{ found: { path: 'grandchild' } }, { found: { path: 'child' } }] },
      { found: { path: 'x' }, children: [] },
      { found: { path: 'y' }, children: [] },
    ]);
    expect(labels(stored, { ...NO_FILTER, text: 'grandchild' })).toEqual([['Claude Code', 'a']]);
  });

  it('filters by words in any order, by agent and by folder', () => {
    const stored = [
      found('/x/one', { workspace: '/work/app' }),
      found('/x/two', { agent: 'Codex' }),
      found('/x/three', { agent: 'Codex', workspace: '/work/app' }),
    ];
    expect(labels(stored, { ...NO_FILTER, text: 'TITLE two' })).toEqual([['Codex', '/x/two']]);
    expect(labels(stored, { ...NO_FILTER, agents: new Set(['Codex']) })).toEqual([['Codex', '/x/two', '/x/three']]);
    expect(labels(stored, { ...NO_FILTER, agents: new Set(['Codex']), workspaces: new Set(['/work/app']) })).toEqual([
      ['Codex', '/x/three'],
    ]);
    expect(labels(stored, { ...NO_FILTER, text: 'nothing' })).toEqual([]);
  });

  it.each([
    'Fix `npm test` in **a.ts**',
    '[npm](https://npmjs.org) test',
    '# npm test',
    'https://www.example.org/x',
    'snake_case',
  ])('finds a conversation by its first message as it was typed, with Markdown: %s', (typed) => {
    const title = makeConversationTitle([{ role: 'user', content: typed }]);
    const stored = [found('/x/one', { details: { ...found('/x/one').details!, title } }), found('/x/two')];
    expect(labels(stored, { ...NO_FILTER, text: typed })).toEqual([['Claude Code', '/x/one']]);
  });

  it('keeps a parent whose child matches the filter', () => {
    const stored = [found('a'), found('child', { parent: 'a' }), found('other', { parent: 'a' })];
    const [agent] = createAgentNodes({ live: [], stored, ledgers: ledgersOf() }, { ...NO_FILTER, text: 'child' });
    expect(agent?.children).toMatchObject([{ found: { path: 'a' }, children: [{ found: { path: 'child' } }] }]);
  });

  it('shows one page of conversations at a time', () => {
    const stored = Array.from({ length: CONVERSATIONS_PER_PAGE + 5 }, (_, index) => found(`c${index}`));
    const [agent] = createAgentNodes({ live: [], stored, ledgers: ledgersOf() }, NO_FILTER);
    expect(getShownChildren(agent!, 1)).toHaveLength(CONVERSATIONS_PER_PAGE + 1);
    expect(getShownChildren(agent!, 1).at(-1)).toEqual({ kind: 'more', agent: 'Claude Code', hidden: 5 });
    expect(getShownChildren(agent!, 2)).toHaveLength(CONVERSATIONS_PER_PAGE + 5);
  });
});

describe('a row of the conversations view', () => {
  const item = (each: IndexedConversation, ...ledgers: LedgerOutline[]) => {
    const [agent] = createAgentNodes({ live: [], stored: [each], ledgers: ledgersOf(...ledgers) }, NO_FILTER);
    return createTreeItem(agent!.children[0]!, facts);
  };

  it('does not offer to resume the sample', () => {
    const [agent] = createAgentNodes({ live: [], stored: [found('a')], ledgers: ledgersOf() }, NO_FILTER);
    const { contextValue } = createTreeItem(agent!.children[0]!, { ...facts, sample: 'a' });
    expect(contextValue).toBe('conversation runnable');
  });

  it('says title, how full the window is and age, and the tokens that can be condensed in the tooltip', () => {
    const { label, description, contextValue, accessibilityInformation, tooltip, resourceUri, command } = item(
      found('a'),
    );
    expect(command?.command).toBe('contextCondenser.conversations.open');
    expect(label).toBe('Title of a');
    expect(description).toBe('50% · 2m');
    expect(resourceUri?.path).toBe('/50');
    expect(contextValue).toBe('conversation runnable resumable');
    expect(accessibilityInformation?.label).toBe('Title of a, 50% full, 4,000 tokens in messages, 2 min ago');
    expect(tooltip).toContain(
      [
        'Title of a',
        'Claude Code',
        'Messages, which can be condensed: 4,000 tokens',
        'Context window: 50% full: 5,000 of 10,000 tokens, by the last recorded request and its answer, with instructions and tools, as the vendor counts',
        '',
      ].join('\n'),
    );
  });

  it('shortens a long title, and shows it whole in the tooltip with the model', () => {
    const title = 'Rename everything that follows from it '.repeat(4).trim();
    const details = { ...found('a').details!, title, fill: { tokens: 1, window: 2, isRecorded: true, model: 'm-1' } };
    const { label, tooltip } = item(found('a', { details }));
    expect(typeof label === 'string' ? label.length : undefined).toBeLessThanOrEqual(18);
    expect(label).toMatch(/…$/);
    expect(tooltip).toContain(`${title}\nClaude Code · m-1\n`);
  });

  it('shows the size of a file that is too large to be counted', () => {
    const bytes = 40_400_000;
    const details = { path: 'a', modified: 0, bytes, isComplete: true, title: 'Long' };
    const { label, description, tooltip } = item(found('a', { bytes, details }));
    expect([label, description]).toEqual(['Long', '2m']);
    expect(tooltip).toContain('40 MB, not counted');
  });

  it('shows the last condensation, even if the file was not read yet', () => {
    const ledger: LedgerOutline = { conversation: 'other', path: 'a', condensations: [condensation('1')] };
    const { label, description, contextValue, tooltip, command } = item(found('a', { details: undefined }), ledger);
    expect([label, description]).toEqual(['Reading…', '−40% · 2m']);
    expect(tooltip).toMatch(/Condensed .* with Lossless: 1,000 → 600 tokens \(−40%\)/);
    expect(command?.command).toBe('contextCondenser.conversations.details');
    expect(contextValue).toBe('conversation condensed history runnable resumable');
  });

  it('shows how full the window is and would be with the condensation: in a line that fits a side bar of 300 px, and in the tooltip', () => {
    const ledger: LedgerOutline = { conversation: 'id-a', condensations: [condensation('1')] };
    const details = { ...found('a').details!, title: 'Rename everything that follows' };
    const { label, description, tooltip, accessibilityInformation } = item(found('a', { details }), ledger);
    expect([label, description]).toEqual(['Rename everyt…', '50% · −40% · 2m']);
    expect(accessibilityInformation?.label).toMatch(/, 50% → ≈ 46% full, −40%, 4,000 tokens in messages, 2 min ago$/);
    expect(tooltip).toMatch(/1,000 → 600 tokens \(−40%\); 50% → ≈ 46% full/);
  });

  it('shows after giving back only how full the window is, since the agent may have continued with the condensed version', () => {
    const ledger: LedgerOutline = { conversation: 'id-given', condensations: [condensation('1')] };
    const { description, tooltip } = item(found('given'), ledger);
    expect(description).toBe('50% · −40% · 2m · given back');
    expect(tooltip).not.toContain('→ ≈');
  });

  it('shows “Copy” and an icon of its own for a given-back copy, so that a narrow view tells it from its original', () => {
    const titled = (title: string) => item(found('a', { details: { ...found('a').details!, title } }));
    expect([titled('Fix it (condensed)'), titled('Fix it')]).toMatchObject([
      { label: 'Copy: Fix it', iconPath: { id: 'copy' } },
      { label: 'Fix it', iconPath: { id: 'comment' } },
    ]);
    expect(titled('Fix it (condensed)').accessibilityInformation?.label).toMatch(/^Fix it \(condensed\), /);
    expect(titled('Rename everything that follows (condensed)').label).toBe('Copy: Rename ever…');
  });

  it('can be given back only where its agent reads what another program writes', () => {
    const words = (path: string, agent: IndexedConversation['agent']) =>
      String(item(found(path, { agent })).contextValue).split(' ');
    const session = '5f0e7000-8000-4a1b-9c3d-4e5f0198c7a2.jsonl';
    expect(words(`/home/me/.claude/projects/-app/${session}`, 'Claude Code')).toContain('returnable');
    expect(words('/mine/tasks/1/api_conversation_history.json', 'Roo Code')).toContain('returnable');
    expect(words('/mine/tasks/1/api_conversation_history.json', 'Kilo Code')).not.toContain('returnable');
    expect(words('/home/me/.codex/sessions/2026/01/01/rollout-1.jsonl', 'Codex')).not.toContain('returnable');
  });

  it('offers to redo what was undone, and to undo what was given back', () => {
    const ledger: LedgerOutline = { conversation: 'id-given', condensations: [condensation('1', { isUndone: true })] };
    expect(item(found('given'), ledger).contextValue).toBe('conversation redoable history given runnable resumable');
  });

  it('says in its tooltip what could not be read of the file', () => {
    const damage = 'Line 7 is damaged; skipped 902 bytes: found NUL bytes; expected one JSON record per line.';
    expect(item(found('a', { details: { ...found('a').details!, damage } })).tooltip).toContain(damage);
  });

  it('opens its file if it can’t be read, and says why', () => {
    const broken = found('a', { details: { path: 'a', modified: 0, isComplete: true, problem: 'line 3 is broken' } });
    const { description, contextValue, tooltip, command } = item(broken);
    expect([description, contextValue]).toEqual(['can’t be read · 2m', 'broken']);
    expect(command?.command).toBe('contextCondenser.conversations.openRaw');
    expect(tooltip).toContain('line 3 is broken');
  });

  it('shows how full the chat’s own window is', () => {
    expect(createTreeItem({ kind: 'live', live, children: [] }, facts)).toMatchObject({
      label: 'Fix the chat',
      description: '50% · 2m',
      contextValue: 'live',
      tooltip: 'Fix the chat\nContext window: 50% full: 30,000 of 60,000 tokens',
      resourceUri: { path: '/50' },
    });
  });
});

describe('the condensation of a ledger that is shown in a row', () => {
  const ledger = (...condensations: CondensationOutline[]): LedgerOutline => ({ conversation: 'c', condensations });

  it('is the last one that is neither undone nor replaced', () => {
    const replaced = condensation('1', { isReplaced: true });
    expect(findShownCondensation(ledger(replaced, condensation('2')))?.id).toBe('2');
    expect(findShownCondensation(ledger(replaced, condensation('2', { isUndone: true })))).toBeUndefined();
    expect(findShownCondensation(undefined)).toBeUndefined();
  });

  it('allows redoing the first condensation that was undone after it', () => {
    const undone = (id: string) => condensation(id, { isUndone: true });
    expect(findUndoneCondensation(ledger(condensation('1'), undone('2'), undone('3')))?.id).toBe('2');
    expect(findUndoneCondensation(ledger(condensation('1')))).toBeUndefined();
  });
});

it('the conversations view forgets the condensations whose records were removed', () => {
  const ledger = { conversation: 'id-a', path: 'a', condensations: [condensation('one')] };
  const known = ledgersOf(ledger);
  expect(known.findLedger(found('a'))).toBe(ledger);
  known.applyLedgersResult({ known: ['id-a'], ledgers: [], lastUsed: 8, givenBack: [] });
  expect(known.listLedgers()).toEqual([ledger]);
  known.applyLedgersResult({ known: [], ledgers: [], lastUsed: 8, givenBack: [] });
  expect(known.findLedger(found('a'))).toBeUndefined();
  expect(known.listLedgers()).toEqual([]);
});
