import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { zstdCompressSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../../../test/support/temporaryFolder';
import { getBlocks } from '../../../core/messages/blocks';
import { listDamage } from '../../notes';
import { readConversationFile } from '../../readFile';

type Fields = Record<string, unknown>;

let home: string;
beforeEach(() => {
  home = temporaryFolder();
});

const said = (role: string, text: string): Fields => ({
  type: 'response_item',
  payload: { type: 'message', role, content: [{ type: role === 'user' ? 'input_text' : 'output_text', text }] },
});

interface Thread {
  readonly path: string;
  readonly bytes: number;
  /** The ordinal of the next record. */
  readonly end: number;
}

/** Writes a rollout of Codex 0.151 or later, which numbers the records through the whole thread. */
function write(id: string, day: string, records: readonly Fields[], base?: Thread & { readonly id: string }): Thread {
  const history_base = base && {
    thread_id: base.id,
    end_ordinal_exclusive: base.end,
    end_byte_offset: base.bytes,
  };
  const header = { type: 'session_meta', payload: { id, history_mode: 'paginated', ...(base && { history_base }) } };
  const from = base?.end ?? 0;
  const text = [header, ...records].map((each, at) => `${JSON.stringify({ ...each, ordinal: from + at })}\n`).join('');
  const folder = join(home, '.codex/sessions/2026/11', day);
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `rollout-2026-11-${day}T09-00-00-${id}.jsonl`);
  writeFileSync(path, text);
  return { path, bytes: Buffer.byteLength(text), end: from + records.length + 1 };
}

const textsIn = (path: string): unknown[] =>
  readConversationFile(path).messages.flatMap((message) => getBlocks(message).map(({ text }) => text));

describe('a fork of a Codex thread', () => {
  it('begins with the referenced records of other rollouts, without records added to those rollouts later', () => {
    const one = write('one', '20', [said('user', 'A'), said('assistant', 'B')]);
    const more = `${JSON.stringify({ ...said('user', 'not in the fork'), ordinal: one.end })}\n`;
    writeFileSync(one.path, more, { flag: 'a' });
    const two = write('two', '21', [said('user', 'C'), said('assistant', 'D')], { ...one, id: 'one' });
    const three = write('three', '22', [said('user', 'E')], { ...two, id: 'two' });
    expect(textsIn(three.path)).toEqual(['A', 'B', 'C', 'D', 'E']);
    expect(readConversationFile(three.path)).toMatchObject({ id: 'codex:three', title: 'E', notes: [] });
  });

  it('uses record numbers if the byte offset is in the middle of a line', () => {
    const one = write('one', '20', [said('user', 'A'), said('assistant', 'B'), said('user', 'not in the fork')]);
    const two = write('two', '20', [said('user', 'C')], { ...one, end: 3, bytes: 40, id: 'one' });
    expect(textsIn(two.path)).toEqual(['A', 'B', 'C']);
  });

  it('follows compaction and rollback across files', () => {
    const one = write('one', '20', [said('user', 'A'), said('assistant', 'B'), said('user', 'C')]);
    const back = { type: 'event_msg', payload: { type: 'thread_rolled_back', num_turns: 1 } };
    expect(textsIn(write('two', '20', [back, said('user', 'D')], { ...one, id: 'one' }).path)).toEqual(['A', 'B', 'D']);
    const compacted = {
      type: 'compacted',
      payload: { message: '', replacement_history: [said('user', 'S')['payload']] },
    };
    const three = write('three', '20', [compacted, said('user', 'D')], { ...one, id: 'one' });
    expect(textsIn(three.path)).toEqual(['S', 'D']);
  });

  it('names the missing file that contains its beginning, also if forks refer to each other in a circle', () => {
    const one = write('one', '20', [said('user', 'A')]);
    const two = write('two', '20', [said('user', 'B')], { ...one, id: 'one' });
    rmSync(one.path);
    const { messages, notes } = readConversationFile(two.path);
    expect(messages).toHaveLength(1);
    expect(notes).toEqual([
      `This is a fork, and its beginning was not found: it should be in rollout-*-one.jsonl, in ${join(home, '.codex/sessions')}.`,
    ]);
    const circle = write('one', '20', [said('user', 'A')], { ...two, id: 'two' });
    expect(readConversationFile(circle.path).notes[0]).toContain('its beginning was not found');
  });

  it('reports a damaged line of its beginning as damage, with the file', () => {
    const one = write('one', '20', [said('user', 'A')]);
    writeFileSync(one.path, 'oops\n', { flag: 'a' });
    const two = write('two', '20', [said('user', 'B')], { ...one, bytes: one.bytes + 5, id: 'one' });
    expect(textsIn(two.path)).toEqual(['A', 'B']);
    expect(listDamage(readConversationFile(two.path).notes)[0]).toMatch(
      /^In the beginning, .*-one\.jsonl: Line 3 is damaged/,
    );
  });
});

describe('a compressed Codex rollout', () => {
  it('can be read, also as the start of a fork, and a broken one is reported as damage', () => {
    const one = write('one', '20', [said('user', 'A')]);
    const two = write('two', '20', [said('user', 'B')], { ...one, id: 'one' });
    const packed = zstdCompressSync(
      JSON.stringify({ type: 'session_meta', payload: { id: 'one' } }) +
        `\n${JSON.stringify({ ...said('user', 'A'), ordinal: 1 })}\n`,
    );
    rmSync(one.path);
    writeFileSync(`${one.path}.zst`, packed);
    expect(textsIn(`${one.path}.zst`)).toEqual(['A']);
    expect(textsIn(two.path)).toEqual(['A', 'B']);
    expect(() => readConversationFile(`${one.path}.zst`, {}, { maxBytes: packed.length })).toThrow(
      'in a compressed file',
    );
    // A crash or a full disk leaves a file without its end, or with something else in it.
    const more = zstdCompressSync(
      `${JSON.stringify({ ...said('user', randomBytes(300_000).toString('hex')), ordinal: 2 })}\n`,
    );
    const broken = [Buffer.concat([packed, more.subarray(0, -50)]), Buffer.concat([packed, Buffer.alloc(300, 'x')])];
    for (const bytes of broken) {
      writeFileSync(`${one.path}.zst`, bytes);
      const { notes, messages } = readConversationFile(`${one.path}.zst`);
      expect(messages).toHaveLength(1);
      expect(listDamage(notes)[0]).toMatch(/^The compressed file is broken after byte \d+ of \d+/);
    }
    writeFileSync(`${one.path}.zst`, Buffer.concat([packed, more]));
    expect(readConversationFile(`${one.path}.zst`)).toMatchObject({ messages: [{}, {}], notes: [] });
    writeFileSync(`${one.path}.zst`, packed.subarray(0, 12));
    expect(() => readConversationFile(`${one.path}.zst`)).toThrow('found a broken compressed file');
  });
});
