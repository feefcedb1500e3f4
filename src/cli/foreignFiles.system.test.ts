/**
 * Files that aren't ours must keep name, content, time and link target, whatever an option,
 * variable or setting names. The test generates folder trees with names like ours and contents like
 * other programs'.
 */
import fc from 'fast-check';
import { createHash } from 'node:crypto';
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, inject, test } from 'vitest';
import { inTemporaryFolder } from '../../test/support/inTemporaryFolder';
import { makeTranscript } from '../../test/support/transcript';
import { listAnnouncements } from '../gateway/announcement';
import { recoverAllReplacements } from '../giveBack/replacements';
import { MetricsStore } from '../storage/metrics';
import { nodeFiles } from '../storage/nodeFiles';
import { makeHeaderLine } from '../storage/ownFiles';
import { FOLDER_MARKER_FILE_NAME } from '../storage/ownFolder';
import { pruneLedgers } from '../storage/prune';
import { removeLeftRunFolders } from '../storage/runFolders';
import { Spending } from '../storage/spending';
import { StoredSummaries } from '../storage/summaries';
import { runCommandLine } from './run';

type Entry =
  | { readonly kind: 'file'; readonly path: string; readonly text: string }
  | { readonly kind: 'folder'; readonly path: string }
  | { readonly kind: 'link'; readonly path: string; readonly to: string };

const HEX = 'd41d8cd98f00b204e9800998ecf8427e';
/** Our file names, and similar ones. */
const NAMES = [
  ...[
    'runs',
    'account.json',
    'whatIf.json',
    'spending.jsonl',
    'spending.jsonl.lock',
    'spending.jsonl.new',
    'gateway.json',
  ],
  ...[
    'metrics.jsonl',
    'metrics.jsonl.new',
    'conversations.json',
    'gateway.log',
    '1234.json',
    '1234-0123abcd.json',
    '1234.json.new',
  ],
  ...[
    HEX,
    `${HEX}.removed-0123456789abcdef`,
    `${HEX}.aside-1`,
    `${'0'.repeat(64)}.json`,
    `${'1'.repeat(64)}.0123456789abcdef.new`,
  ],
  ...[
    '2020-01-01T00-00-00.000Z-0123abcd',
    '2020-01',
    'ledgers',
    'live',
    'running',
    '.git',
    'notes.txt',
    'lock',
    'owner',
  ],
  ...['.1.2.0@elsewhere.01234567.context-condenser.tmp', '.1-1234567890123.context-condenser.tmp', '.gitignore'],
];
const INNER = [
  ...[
    'best.pt',
    'run-2147483646-left',
    'run-2147483646-0123abcd',
    'run-1-abcdef',
    'exp7',
    'about.json',
    'ledger.jsonl',
  ],
  ...['originals.jsonl', 'owner', 'lock', 'settings.json', 'record.json', 'done'],
];
const TEXTS = [
  ...[
    'precious',
    '',
    '{}',
    '[]',
    '{"version":1}',
    '{"version":5,"kept":[]}',
    '{"address":"0xabc","ciphertext":"the only copy"}',
  ],
  ...[
    '{"id":"another"}',
    '{"pid":1234,"name":"a server"}',
    '{"contextCondenser":"other"}',
    '{"check":1}',
    'step,loss\n1,0.5\n',
  ],
  ...['2026-01-01T00:00:00.000Z started\n', '2026-01-01T00:00:00.000Z failed to connect\n', '0123456789abcdef\n'],
  Array.from({ length: 2_500 }, (_, n) => `{"n":${n}}`).join('\n'),
];

const text = fc.oneof(fc.constantFrom(...TEXTS), fc.string({ maxLength: 40 }));
const name = fc.constantFrom(...NAMES);
const path = fc.oneof(
  name,
  fc.tuple(name, fc.constantFrom(...INNER)).map((parts) => parts.join('/')),
  fc
    .tuple(fc.constantFrom('runs', HEX), fc.constantFrom(...INNER), fc.constantFrom('best.pt', 'owner', 'mcp.json'))
    .map((parts) => parts.join('/')),
);
const entry: fc.Arbitrary<Entry> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('file' as const), path, text }) },
  fc.record({ kind: fc.constant('folder' as const), path }),
  fc.record({
    kind: fc.constant('link' as const),
    path,
    to: fc.constantFrom('elsewhere', 'elsewhere/file', 'nowhere', 'home'),
  }),
);

const OLD = 1_500_000_000;

/** Creates entries, and skips those in conflict with existing ones. */
function grow(root: string, folder: string, entries: readonly Entry[]): void {
  for (const one of entries) {
    const to = join(folder, one.path);
    try {
      mkdirSync(one.kind === 'folder' ? to : dirname(to), { recursive: true });
      if (one.kind === 'file') {
        writeFileSync(to, one.text, { flag: 'wx' });
        utimesSync(to, OLD, OLD);
      } else if (one.kind === 'link') symlinkSync(join(root, one.to), to);
    } catch {
      continue;
    }
  }
}

/** Describes everything below a folder, so that a change is visible. */
function seen(folder: string, below = ''): Map<string, string> {
  const found = new Map<string, string>();
  for (const one of readdirSync(join(folder, below))) {
    const at = join(below, one);
    const full = join(folder, at);
    const status = lstatSync(full);
    if (status.isSymbolicLink()) found.set(at, `link to ${readlinkSync(full)}`);
    else if (status.isDirectory()) {
      found.set(at, 'folder');
      for (const [inner, what] of seen(folder, at)) found.set(inner, what);
    } else {
      const hash = createHash('sha256').update(readFileSync(full)).digest('hex');
      found.set(at, `file ${hash} ${status.mtimeMs} ${status.ino}`);
    }
  }
  return found;
}

const EMPTY_FILE = `file ${createHash('sha256').digest('hex')}`;

/** A killed process may leave an empty folder with such a name. */
const isLeftEmpty = (path: string, all: ReadonlyMap<string, string>): boolean =>
  /[/\\](?:[0-9a-f]{32}\.removed-[0-9a-f]{16}|\d{4}-\d\d-\d\dT[\d-]+\.\d{3}Z-[0-9a-f]{8})$/.test(path) &&
  ![...all.keys()].some((other) => other !== path && other.startsWith(path));

interface Place {
  readonly home: string;
  readonly folder: string;
  readonly session: string;
  readonly fresh: string;
}

/**
 * Lets the product write to a folder or file.
 * @returns the path of the result, if one was requested
 */
type Way = (place: Place, name: string) => Promise<unknown>;

async function cli(place: Place, argv: readonly string[], env: Record<string, string> = {}): Promise<undefined> {
  const abort = new AbortController();
  const code = await runCommandLine(argv, {
    // A gateway that prints something has finished its start-up work.
    stdout: () => {
      if (argv[0] === 'gateway') abort.abort(new Error('over'));
    },
    stderr: () => undefined,
    assets: inject('bundles'),
    signal: abort.signal,
    now: () => new Date(),
    version: '0',
    platform: 'linux',
    env: { PATH: process.env['PATH'], ...env },
    homedir: place.home,
  });
  // A refusal ends with one of these codes, unlike a crash.
  expect([0, 1, 2, 3]).toContain(code);
  return undefined;
}

const out =
  (command: string, ...more: readonly string[]): Way =>
  async (place, into) => {
    const to = join(place.folder, into);
    const subject = command === 'account' ? [] : [place.session];
    await cli(place, [command, ...subject, '--store', place.fresh, '--out', to, ...more]);
    return to;
  };

const WAYS: Readonly<Record<string, Way>> = {
  'condense --store': (place) => cli(place, ['condense', place.session, '--store', place.folder]),
  'undo --store': (place) => cli(place, ['undo', place.session, '--store', place.folder]),
  'inspect --store': (place) => cli(place, ['inspect', place.session, '--store', place.folder]),
  'account --store': (place) => cli(place, ['account', '--store', place.folder]),
  'account --store --with': (place) => cli(place, ['account', '--store', place.folder, '--with', 'file-aware']),
  'account, CONTEXT_CONDENSER_STORE': (place) => cli(place, ['account'], { CONTEXT_CONDENSER_STORE: place.folder }),
  'condense --out': out('condense'),
  'export --out': out('export', '--to', 'anthropic'),
  'report --out': out('report'),
  'account --out': out('account'),
  'run --store': (place) => cli(place, ['run', '--store', place.folder, '--', process.execPath, '-e', '0']),
  'gateway --store': (place) => cli(place, ['gateway', '--store', place.folder]),
  'gateway --log': (place, to) => cli(place, ['gateway', '--store', place.fresh, '--log', join(place.folder, to)]),
  'gateway --spending': (place, to) =>
    cli(place, ['gateway', '--store', place.fresh, '--spending', join(place.folder, to)]),
  'gateway --announce': (place) => cli(place, ['gateway', '--store', place.fresh, '--announce', place.folder]),
  'gateway --address-file': (place, to) =>
    cli(place, ['gateway', '--store', place.fresh, '--address-file', join(place.folder, to)]),
  'a booking': async (place, to) => {
    const spending = new Spending(join(place.folder, to));
    await spending.bookSpending({ kind: 'own', atMost: 1 }, { perConversation: 0, perDay: 0 }).catch(() => undefined);
  },
  measures: async (place, to) => {
    const store = new MetricsStore(join(place.folder, to));
    await store.addRun({ at: 'now', provider: 'lossless', calls: [] } as never).catch(() => undefined);
    await store.removeAllRuns().catch(() => undefined);
  },
  summaries: async (place) => {
    const store = new StoredSummaries(place.folder, { now: () => Date.now() + 1e12 });
    await store.set('2'.repeat(64) as never, 'a summary');
    await store.clear();
  },
  tidying: async (place) => {
    await pruneLedgers(place.folder, { now: new Date(), maxBytes: 0 }).catch(() => undefined);
    await removeLeftRunFolders(nodeFiles, place.folder);
    await listAnnouncements(place.folder);
    await recoverAllReplacements(nodeFiles, place.folder, new Date());
  },
};

test.runIf(process.platform !== 'win32').each(Object.entries(WAYS))(
  'cleaning up temporary files leaves those of other programs alone: %s',
  (_, way) =>
    fc.assert(
      fc.asyncProperty(
        fc.array(entry, { minLength: 1, maxLength: 8 }),
        name,
        fc.boolean(),
        fc.boolean(),
        (entries, other, isMarked, isLinked) =>
          inTemporaryFolder(async (root) => {
            const home = join(root, 'home');
            const sessions = join(home, '.claude/projects/-p');
            mkdirSync(sessions, { recursive: true });
            const session = join(sessions, '00000000-0000-4000-8000-000000000001.jsonl');
            writeFileSync(session, makeTranscript());
            grow(root, root, [{ kind: 'file', path: 'elsewhere/file', text: 'precious' }]);
            const grown = join(root, 'grown');
            mkdirSync(grown);
            grow(root, grown, entries);
            // This is usually an existing file, and sometimes a new path.
            const into = entries.find(({ kind, path: at }) => kind !== 'folder' && !at.includes('/'))?.path ?? other;
            if (isMarked) writeFileSync(join(grown, FOLDER_MARKER_FILE_NAME), `${makeHeaderLine('store')}\n`);
            const folder = isLinked ? join(root, 'way') : grown;
            if (isLinked) symlinkSync(grown, folder);
            const before = seen(root);
            const asked = await way({ home, folder, session, fresh: join(root, 'fresh') }, into);
            const after = seen(root);
            for (const [path, what] of before) {
              // If the user named this regular file for the result, it may be replaced.
              if (asked !== undefined && join(root, path) === join(grown, into) && what.startsWith('file')) continue;
              if (what === 'folder' && isLeftEmpty(path, before)) continue;
              // An empty file has nothing to lose.
              if (join(root, path) === join(grown, into) && what.startsWith(EMPTY_FILE)) continue;
              expect({ path, what: after.get(path) }).toEqual({ path, what });
            }
          }),
      ),
    ),
);
