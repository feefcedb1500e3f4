import { spawn } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { inTemporaryFolder } from '../support/inTemporaryFolder';
import { giveBackConversation } from '../../src/giveBack/giveBack';
import { GiveBackError } from '../../src/giveBack/giveBackError';
import { hashBytes } from '../../src/giveBack/fileBytes';
import { recoverReplacement, replaceFiles, undoReplacement } from '../../src/giveBack/replacement';
import { condenseFile, makeFileOld, writeZooTask } from '../../src/giveBack/testing';
import { nodeFiles } from '../../src/storage/nodeFiles';
import { StorageError } from '../../src/storage/storageError';
import { createSteppedFiles, createSystemError, type FileStep } from '../../src/storage/testing';
import { childProgram } from '../support/childProgram';
import { listStepsToTry } from '../support/long';

const { folder, program } = childProgram('giveBack.child.ts');

interface Exit {
  readonly signal: NodeJS.Signals | null;
  readonly output: string;
}

function start(args: readonly string[], onLine?: (line: string, write: (text: string) => void) => void): Promise<Exit> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [program, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.on('data', (data: Buffer) => {
      output += data.toString();
      for (const line of data.toString().trim().split('\n')) onLine?.(line, (text) => child.stdin.write(text));
    });
    child.on('error', reject);
    child.on('close', (_, signal) => {
      resolve({ signal, output });
    });
  });
}

/** Creates two files of an agent in a temporary folder. */
function agentFiles(name: string): { readonly root: string; readonly paths: readonly string[]; readonly home: string } {
  const home = join(folder, name);
  const paths = ['history.json', 'rows.json'].map((file) => join(home, 'task', file));
  mkdirSync(join(home, 'task'), { recursive: true });
  mkdirSync(join(home, 'kept'));
  paths.forEach((path, index) => {
    writeFileSync(path, `file ${index}`);
  });
  return { root: join(home, 'kept'), paths, home };
}

const OLD = ['file 0', 'file 1'];
const NEW = ['file 0, condensed', 'file 1, condensed'];
const readTexts = (paths: readonly string[]): string[] => paths.map((path) => readFileSync(path, 'utf8'));
const replacementIn = (root: string): string | undefined => readdirSync(root).map((name) => join(root, name))[0];

/** A step that is never reached. */
const NEVER = Number.MAX_SAFE_INTEGER;

const stepsIn = ({ output }: Exit): number => Number(/steps (\d+)\n/.exec(output)?.[1]);

test('a replacement killed at any step leaves the old or the new state after restart', async () => {
  const replaced = async (killedAt: number): Promise<Exit> => {
    const { root, paths, home } = agentFiles(`replace-${killedAt}`);
    const exit = await start(['replace', root, `${killedAt}`, ...paths]);
    const replacement = replacementIn(root);
    const state = replacement && (await recoverReplacement(nodeFiles, replacement));
    expect(readTexts(paths)).toEqual(state === 'done' ? NEW : OLD);
    expect(readdirSync(join(home, 'task')).sort()).toEqual(['history.json', 'rows.json']);
    if (state === 'done' && replacement) {
      await undoReplacement(nodeFiles, replacement);
      expect(readTexts(paths)).toEqual(OLD);
    }
    return exit;
  };
  const steps = stepsIn(await replaced(NEVER));
  // The steps write the bytes before and after, the record, two files, and the `done` mark. If
  // there were fewer steps, some of these writes would be missing from the test.
  expect(steps).toBeGreaterThan(40);
  for (const step of listStepsToTry(steps)) expect((await replaced(step)).signal).toBe('SIGKILL');
});

test('an undo killed at any step leaves the old state after restart', async () => {
  const undone = async (killedAt: number): Promise<Exit> => {
    const { root, paths } = agentFiles(`undo-${killedAt}`);
    const contents = paths.map((path, index) => ({
      path,
      before: hashBytes(readFileSync(path)),
      bytes: new TextEncoder().encode(NEW[index]),
    }));
    const replacement = await replaceFiles(nodeFiles, root, { conversation: 'c' }, contents, new Date(0));
    expect(readTexts(paths)).toEqual(NEW);
    const exit = await start(['undo', replacement, `${killedAt}`]);
    const state = await recoverReplacement(nodeFiles, replacement);
    // If the undo was killed before it started, it had no effect.
    expect(readTexts(paths)).toEqual(state === 'done' ? NEW : OLD);
    if (killedAt > 3) expect(state).toBe('undone');
    return exit;
  };
  const steps = stepsIn(await undone(NEVER));
  expect(steps).toBeGreaterThan(15);
  for (const step of listStepsToTry(steps)) expect((await undone(step)).signal).toBe('SIGKILL');
});

test(
  'an agent that writes during giving back loses no message, finds no half-written file, and refusals are explained',
  { timeout: 300_000 },
  async () => {
    await inTemporaryFolder(async (home) => {
      const path = writeZooTask(home);
      const { edits } = await condenseFile(path, readFileSync(path));
      const row = { cost: 0, tokensBefore: 12_000, tokensAfter: 7_000, text: 'Truncation' };
      const outcomes: string[] = [];
      const other: { isWriting: boolean } = { isWriting: true };
      const agent = start(['agent', home, '40', path], (line, write) => {
        if (line === 'ready') write('go\n');
      }).then((exit) => {
        other.isWriting = false;
        return exit;
      });
      for (let round = 0; other.isWriting || !outcomes.includes('given'); round++) {
        if (round % 3 === 0 && other.isWriting) makeFileOld(path);
        try {
          // In every second round, the modification time looks old enough, so that lock and hash
          // must detect the agent's writes.
          const now = () => new Date(Date.now() + (round % 2 === 0 ? 60_000 : 0));
          const given = await giveBackConversation(
            { path, edits, row },
            { files: nodeFiles, root: join(home, 'kept'), now },
          );
          outcomes.push('given');
          await undoReplacement(nodeFiles, given.replacement).catch((error: unknown) => {
            outcomes.push(error instanceof GiveBackError ? error.kind : String(error));
          });
        } catch (error) {
          outcomes.push(error instanceof GiveBackError ? error.kind : String(error));
        }
      }
      const { output } = await agent;
      const history = JSON.parse(readFileSync(path, 'utf8')) as readonly {
        content: unknown;
        condenseParent?: unknown;
      }[];
      const texts = history.map(({ content }) => content);
      for (let number = 0; number < 40; number++) expect(texts).toContain(`late ${number}`);
      expect(output).toContain('wrote 39');
      expect(outcomes.filter((outcome) => !['given', 'running', 'locked', 'changed'].includes(outcome))).toEqual([]);
      expect(outcomes).toContain('given');
    });
  },
);

const TROUBLES = [
  ['a full disk', 'ENOSPC', 'no-space'],
  ['a read-only file system', 'EROFS', 'read-only'],
  ['no permission', 'EACCES', 'no-permission'],
  ['a vanished folder', 'ENOENT', 'io'],
] as const;

test.each(TROUBLES)(
  'the error %s at any step of giving back is reported in words, with nothing half done',
  { timeout: 300_000 },
  async (name, code, trouble) => {
    for (let failAt = 0; ; failAt += 1) {
      const { root, paths, home } = agentFiles(`${code}-${failAt}`);
      const steps: FileStep[] = [];
      const files = createSteppedFiles((step) => {
        if (steps.push(step) - 1 === failAt) throw createSystemError(code);
      });
      const contents = paths.map((path, index) => ({
        path,
        before: hashBytes(readFileSync(path)),
        bytes: new TextEncoder().encode(NEW[index]),
      }));
      const outcome = await replaceFiles(files, root, { conversation: 'c' }, contents, new Date(0)).catch(
        (error: unknown) => error,
      );
      if (outcome instanceof StorageError) {
        expect(outcome.kind, `${name} at ${JSON.stringify(steps.at(-1))}`).toBe(trouble);
        expect(readTexts(paths)).toEqual(OLD);
      } else {
        // Errors while cleaning up are ignored.
        expect(typeof outcome).toBe('string');
        expect(readTexts(paths)).toEqual(NEW);
      }
      for (const replacement of readdirSync(root)) await recoverReplacement(nodeFiles, join(root, replacement));
      expect(readTexts(paths)).toEqual(typeof outcome === 'string' ? NEW : OLD);
      expect(readdirSync(join(home, 'task')).sort()).toEqual(['history.json', 'rows.json']);
      if (steps.length <= failAt) return;
    }
  },
);
