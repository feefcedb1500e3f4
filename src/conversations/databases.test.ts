import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { writeDatabase } from '../../test/fixtures/conversations/home';
import { OpenDatabases } from './databases';
import { listSessions, readSession } from './formats/openCode/database';
import { readSessionFiles } from './formats/openCode/files';

let folder: string;
let file: string;
let databases: OpenDatabases;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'databases-'));
  file = join(folder, 'kilo.db');
  writeDatabase(file, 'ses_kilo');
  databases = new OpenDatabases();
});
afterEach(() => {
  databases.closeAll();
  rmSync(folder, { recursive: true, force: true });
});

const ids = (): string[] => listSessions(file, databases).map(({ id }) => id);

it("an agent's database stays open from its first use until all databases are closed", () => {
  expect(databases.hasOpenDatabase(file)).toBe(false);
  expect(ids()).toEqual(['ses_kilo']);
  expect(databases.hasOpenDatabase(file)).toBe(true);
  expect(readSession(file, 'ses_kilo', databases).info).toMatchObject({ id: 'ses_kilo' });
  databases.closeAll();
  expect(databases.hasOpenDatabase(file)).toBe(false);
});

it("an agent's database is read with everything that the agent has written since it was opened", () => {
  expect(ids()).toEqual(['ses_kilo']);
  const agent = new DatabaseSync(file);
  // The change is at first only in the write-ahead log. Closing the database moves it into the
  // file.
  agent.exec("UPDATE session SET id = 'ses_log'");
  expect(ids()).toEqual(['ses_log']);
  agent.exec("UPDATE session SET id = 'ses_file'");
  agent.close();
  utimesSync(file, 1, 1);
  expect(ids()).toEqual(['ses_file']);
});

it("an agent's database that became unreadable is reopened", () => {
  expect(ids()).toEqual(['ses_kilo']);
  const whole = readFileSync(file);
  writeFileSync(file, 'SQLite format 3\0, and then nothing of the kind');
  expect(ids).toThrow('a database that can’t be read');
  expect(databases.hasOpenDatabase(file)).toBe(false);
  writeFileSync(file, whole);
  expect(ids()).toEqual(['ses_kilo']);
});

it.each([
  [
    'sessions',
    "DROP TABLE session; CREATE VIEW session AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x AS id, 'p' AS title, '' AS directory, NULL AS parent_id, NULL AS revert, x AS time_updated FROM n",
  ],
  [
    'parts',
    "DROP TABLE part; CREATE VIEW part AS WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x AS id, 'ses_kilo-msg_1' AS message_id, 'ses_kilo' AS session_id, zeroblob(1000000) AS data FROM n",
  ],
])(
  'a database with a view in place of the table %s is rejected without querying the view, which could be endless',
  (_, sql) => {
    const agent = new DatabaseSync(file);
    agent.exec(sql);
    agent.close();
    expect(() => readSession(file, 'ses_kilo', databases)).toThrow('found a SQLite database of another kind');
  },
);

it("a pipe in place of a database's log is not opened", () => {
  execFileSync('mkfifo', [`${file}-wal`]);
  expect(ids).toThrow('found a link, folder, device or pipe next to a database');
});

it("links and pipes among a session's files are counted but not read", () => {
  const storage = join(folder, 'storage');
  const write = (path: string, value: unknown): void => {
    mkdirSync(dirname(join(storage, path)), { recursive: true });
    writeFileSync(join(storage, path), JSON.stringify(value));
  };
  const info = { id: 'ses_1', projectID: 'p' };
  write('session/p/ses_1.json', info);
  write('message/ses_1/msg_1.json', { id: 'msg_1', role: 'user' });
  write('part/msg_1/prt_1.json', { id: 'prt_1', type: 'text', text: 'Hello' });
  writeFileSync(join(folder, 'secret.json'), JSON.stringify({ type: 'text', text: 'secret' }));
  symlinkSync(join(folder, 'secret.json'), join(storage, 'part/msg_1/prt_2.json'));
  execFileSync('mkfifo', [join(storage, 'part/msg_1/prt_3.json')]);
  const { messages, unreadable } = readSessionFiles(join(storage, 'session/p/ses_1.json'), info);
  expect(messages.flatMap(({ parts }) => parts.map(({ text }) => text))).toEqual(['Hello']);
  expect(unreadable).toBe(2);
});
