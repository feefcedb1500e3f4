import { mkdtempSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { assistant, jsonl, makeTextBlock, user } from '../../../test/fixtures/conversations/claudeCodeLines';
import { writeHome } from '../../../test/fixtures/conversations/home';
import { createCounter } from '../../core/testingCounter';
import {
  MAX_COUNTED_BYTES,
  readDetailsFromBeginning,
  areDetailsUpToDate,
  isSmallConversation,
  readDetailsFromWholeFile,
} from './details';
import type { FoundConversation } from './types';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'details-'));
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const found = (path: string): FoundConversation => {
  const { mtimeMs, size } = statSync(path);
  return { agent: 'Claude Code', path, modified: mtimeMs, bytes: size };
};
const write = (content: string): FoundConversation => {
  const path = join(folder, 'conversation');
  writeFileSync(path, content);
  return found(path);
};
const fillOf = () => ({ tokens: 7, isRecorded: false });
const FILLER = 'word '.repeat(8_000);

describe("a conversation's details read from the beginning of its file", () => {
  it.each([
    [
      'lines',
      jsonl(user('u1', null, 'Fix it'), assistant('a1', 'u1', 'm1', makeTextBlock(FILLER)), user('u2', 'a1', 'more')),
    ],
    [
      'an array in one line',
      JSON.stringify([
        { role: 'user', content: 'Fix it', ts: 1 },
        { role: 'assistant', content: FILLER, ts: 2 },
      ]),
    ],
    [
      'an object over several lines',
      JSON.stringify(
        {
          sessionId: 's',
          projectHash: 'h',
          messages: [
            { id: '1', type: 'user', content: 'Fix it' },
            { id: '2', type: 'gemini', content: FILLER },
          ],
        },
        null,
        2,
      ),
    ],
    [
      'what says a lot before the first word',
      jsonl(user('u0', null, `<system-reminder>${FILLER}</system-reminder>`), user('u1', 'u0', 'Fix it')),
    ],
  ])('include the title: %s', (_name, content) => {
    const conversation = write(content);
    expect(isSmallConversation(conversation)).toBe(false);
    const { details } = readDetailsFromBeginning(conversation);
    expect(details).toMatchObject({ path: conversation.path, title: 'Fix it', isComplete: false });
    expect(areDetailsUpToDate(details, conversation)).toBe(true);
    expect(areDetailsUpToDate(details, { ...conversation, modified: 1 })).toBe(false);
  });

  it('equal those read from the whole file for every agent', () => {
    for (const { path } of writeHome(folder)) {
      if (path.includes('#') || path.endsWith('ses_files.json')) continue;
      const whole = readDetailsFromWholeFile(found(path), createCounter(), 'active', fillOf);
      expect(readDetailsFromBeginning(found(path)).details, path).toMatchObject({ id: whole.id, title: whole.title });
    }
  });

  it('report no problem if the file is empty or gone', () => {
    expect(readDetailsFromBeginning(write(`{"x": "${FILLER}${FILLER}`)).details).not.toHaveProperty('title');
    const gone = readDetailsFromBeginning({ ...write('x'), path: join(folder, 'gone') });
    expect(gone.details).not.toHaveProperty('problem');
    expect(gone.head).toBeUndefined();
  });
});

describe("a conversation's details read from its whole file", () => {
  it('include title, tokens and workspace', () => {
    const side = { isSidechain: true, agentId: 'one' };
    const details = readDetailsFromWholeFile(
      write(
        jsonl(
          user('u1', null, 'Fix it'),
          user('x1', null, 'Explore', side),
          assistant('a1', 'u1', 'm', makeTextBlock('Done')),
        ),
      ),
      createCounter(),
      'active',
      fillOf,
    );
    expect(details).toMatchObject({
      title: 'Fix it',
      workspace: '/home/dev/app',
      isComplete: true,
    });
    expect(details.tokens).toBeGreaterThan(5);
  });

  it('are the same whether the beginning was read before or not', () => {
    const conversation = write(jsonl(user('u1', null, 'Fix it'), user('u2', 'u1', FILLER)));
    const { head } = readDetailsFromBeginning(conversation);
    expect(head?.bytes.length).toBeLessThan(conversation.bytes ?? 0);
    expect(readDetailsFromWholeFile(conversation, createCounter(), 'active', fillOf, { head })).toEqual(
      readDetailsFromWholeFile(conversation, createCounter(), 'active', fillOf),
    );
  });

  it('say why the file can’t be read', () => {
    expect(readDetailsFromWholeFile(write('{"type":'), createCounter(), 'active', fillOf)).toMatchObject({
      isComplete: true,
      problem: expect.stringMatching(/^line 1: found the end of the file in the middle of a JSON value; expected/),
    });
    expect(readDetailsFromWholeFile({ ...write('x'), title: 'Named' }, createCounter(), 'active', fillOf).title).toBe(
      'Named',
    );
  });

  it('include only the title if the file is very large', () => {
    const large = write(jsonl(user('u1', null, 'Fix it'), user('u2', 'u1', FILLER)));
    truncateSync(large.path, MAX_COUNTED_BYTES + 1);
    expect(readDetailsFromBeginning(found(large.path)).details).toMatchObject({ title: 'Fix it', isComplete: true });
    expect(readDetailsFromWholeFile(found(large.path), createCounter(), 'active', fillOf).problem).toContain(
      'a file of 32.0 MB',
    );
  });
});
