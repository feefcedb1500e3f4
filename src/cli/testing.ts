/** Runs the command line in the test process on generated sessions. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inject } from 'vitest';
import { makeToolExchange, makeLines, user } from '../core/testing';
import { runJudgeCommand } from './judge';

/** Runs `judge` in this process and returns both outputs. */
export async function runJudge(...argv: string[]) {
  let [stdout, stderr] = ['', ''];
  const progress: string[] = [];
  const code = await runJudgeCommand(argv, {
    stdout: (text) => (stdout += text),
    stderr: (text) => (stderr += text),
    showProgress: (words) => progress.push(words),
    assets: inject('assets'),
    signal: new AbortController().signal,
    now: () => new Date('2026-01-02T03:04:05Z'),
    version: '1.2.3',
    platform: 'linux',
    env: {},
    homedir: '/home/me',
  });
  return { code, stdout, stderr, progress };
}

/**
 * Creates a session that reads files (default thirty) and then edits lines from the middle of
 * eight of them (default: the newest).
 */
export const makeSession = (name: string, first = 22, files = 30) => ({
  messages: [
    user(`Mend ${name}`),
    ...Array.from({ length: files }, (_, at) =>
      makeToolExchange(`r${at}`, 'Read', { file_path: `/src/${name}${at}.ts` }, makeLines(`${name}${at}`, 100)),
    ).flat(),
    ...Array.from({ length: 8 }, (_, edit) => first + edit).flatMap((at) =>
      makeToolExchange(
        `e${at}`,
        'Edit',
        {
          file_path: `/src/${name}${at}.ts`,
          old_string: makeLines(`${name}${at}`, 100).split('\n').slice(48, 52).join('\n'),
          new_string: 'gone',
        },
        'ok',
      ),
    ),
  ],
});

export const writeSession = (folder: string, name: string, content: unknown): void => {
  writeFileSync(join(folder, name), JSON.stringify(content));
};
