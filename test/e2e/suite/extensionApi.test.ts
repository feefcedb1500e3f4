import assert from 'node:assert/strict';
import { suite, test } from 'mocha';
import * as vscode from 'vscode';
import type { SampleExports } from '../sample-extension/main';
import { findMarkers } from '../../../src/core/messages/markers';

/** Creates a task with this many reads of a file of about 1,000 tokens. */
const reads = (count: number) => [
  { role: 'user' as const, content: 'Find out why the tests fail.' },
  ...Array.from({ length: count }, (_, index) => [
    {
      role: 'assistant' as const,
      content: [{ type: 'tool_use', id: `call-${index}`, name: 'read_file', input: { path: `/w/file-${index}.ts` } }],
    },
    {
      role: 'user' as const,
      content: [
        { type: 'tool_result', tool_use_id: `call-${index}`, content: `export const value${index} = 1;\n`.repeat(120) },
      ],
    },
  ]).flat(),
];

suite('the exported API, used by another extension', () => {
  const sample = async (): Promise<SampleExports> => {
    const extension = vscode.extensions.getExtension<SampleExports>('context-condenser.context-condenser-sample');
    assert.ok(extension);
    return extension.activate();
  };

  test('the API lists the built-in providers and the registered one with its schema', async () => {
    const { api } = await sample();
    const providers = await api.listProviders();
    const ids = providers.map(({ id }) => id);
    for (const id of ['lossless', 'truncation', 'native', 'context-condenser-sample.forget-tool']) {
      assert.ok(ids.includes(id), id);
    }
    assert.ok('keep' in (providers.at(-1)?.configSchema['properties'] as object));
    assert.deepEqual(await api.listProfiles(), []);
    assert.throws(() => api.registerProvider({} as never), /provider: id/);
  });

  test('the API applies the registered provider after checks once the window is full', async () => {
    const { send, lastOutcome, conversation, events, api } = await sample();
    const few = reads(5);
    assert.deepEqual(await send(few, 20_000), few);
    assert.equal(lastOutcome(), undefined);

    const many = reads(20);
    const view = await send(many, 20_000);
    const outcome = lastOutcome();
    assert.equal(outcome?.kind, 'condensed', JSON.stringify(outcome));
    assert.equal(outcome.provider, 'context-condenser-sample.forget-tool');
    assert.ok(outcome.tokensAfter < outcome.tokensBefore / 2);
    assert.equal(view.length, many.length);
    assert.deepEqual(view.slice(-4), many.slice(-4));
    assert.deepEqual(
      events.map(({ source, provider, tokensAfter }) => ({ source, provider, tokensAfter })),
      [{ source: 'api', provider: outcome.provider, tokensAfter: outcome.tokensAfter }],
    );
    const read = findMarkers(JSON.stringify(view)).find(({ what }) => what.startsWith('read_file'));
    const reference = read?.reference ?? '';
    assert.equal(api.expand(conversation(), reference), 'export const value0 = 1;\n'.repeat(120));

    // The conversation continues, and the condensed parts stay the same.
    const grown = [...many, { role: 'assistant' as const, content: 'They fail for want of a file.' }];
    assert.deepEqual((await send(grown, 20_000)).slice(0, many.length), view);
    assert.equal(events.length, 1);
  });

  test('the API estimates a condensation, and names the invalid part of a conversation', async () => {
    const { api } = await sample();
    const { tokensBefore, tokensAfter, cost } = await api.estimate(
      { id: 'e', messages: reads(20) },
      { provider: 'lossless' },
    );
    assert.ok(tokensAfter <= tokensBefore);
    assert.equal(cost, 0);
    await assert.rejects(api.condense({ id: 'e', messages: 'x' as never }), /conversation: messages/);
  });
});
