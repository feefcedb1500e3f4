import { mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { writeDatabase } from '../../test/fixtures/conversations/home';
import { OpenDatabases } from './databases';
import { listSessions, readSession } from './formats/openCode/database';

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
  databases.close();
  rmSync(folder, { recursive: true, force: true });
});

const ids = (): string[] => listSessions(file, databases).map(({ id }) => id);

it('a database stays open until all are closed', () => {
  expect(databases.has(file)).toBe(false);
  expect(ids()).toEqual(['ses_kilo']);
  expect(databases.has(file)).toBe(true);
  expect(readSession(file, 'ses_kilo', databases).info).toMatchObject({ id: 'ses_kilo' });
  databases.close();
  expect(databases.has(file)).toBe(false);
});

it('what its agent writes is read, though the database was open before', () => {
  expect(ids()).toEqual(['ses_kilo']);
  const agent = new DatabaseSync(file);
  // What stands in the log alone, and what was moved from there into the file.
  agent.exec("UPDATE session SET id = 'ses_log'");
  expect(ids()).toEqual(['ses_log']);
  agent.exec("UPDATE session SET id = 'ses_file'");
  agent.close();
  utimesSync(file, 1, 1);
  expect(ids()).toEqual(['ses_file']);
});

it('a database that broke is opened anew', () => {
  expect(ids()).toEqual(['ses_kilo']);
  const whole = readFileSync(file);
  writeFileSync(file, 'SQLite format 3\0, and then nothing of the kind');
  expect(ids).toThrow('a database that can not be read');
  expect(databases.has(file)).toBe(false);
  writeFileSync(file, whole);
  expect(ids()).toEqual(['ses_kilo']);
});
