/** Tests what a window reports when the chat's engine dies. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { testServices } from '../../test/support/services';
import { temporaryFolder } from '../../test/support/temporaryFolder';
import { fake } from '../../test/support/vscode';
import { EngineDiedError } from '../engine/engineThread';
import { getChatThread } from './engineThread';

it("a window reports a death of the chat's engine, with a restart button after the second within a minute", async () => {
  fake.reset();
  const home = temporaryFolder();
  mkdirSync(join(home, 'dist'));
  const dies = "require('node:worker_threads').parentPort.once('message', () => process.exit(3));";
  writeFileSync(join(home, 'dist', 'engine.cjs'), dies);
  const { services, log } = testServices(home, join(home, 'storage'));
  const thread = getChatThread(services);
  expect(getChatThread(services)).toBe(thread);
  await expect(thread.engine.read('/x', {})).rejects.toThrow(EngineDiedError);
  expect(fake.shown.map(({ message }) => message)).toEqual([
    expect.stringMatching(/condenses the chat ended unexpectedly\. .* was sent as it was; the next one is condensed/),
  ]);
  fake.answers = ['Condense Again'];
  await expect(thread.engine.read('/x', {})).rejects.toThrow(EngineDiedError);
  expect(fake.shown.at(-1)).toMatchObject({
    message: expect.stringContaining('twice within a minute') as unknown,
    choices: ['Condense Again'],
  });
  // After the user clicks the button, the engine can start again.
  await expect.poll(() => isStartable(thread)).toBe(true);
  expect(log.lines.filter((line) => line.includes('The engine ended unexpectedly.'))).toHaveLength(2);
  thread.endThread();
});

function isStartable(thread: ReturnType<typeof getChatThread>): boolean {
  try {
    return Boolean(thread.engine);
  } catch {
    return false;
  }
}
