import assert from 'node:assert/strict';
import * as vscode from 'vscode';

/**
 * VS Code's performance marks, in milliseconds since the epoch. Their names are from its
 * extHostExtensionService.ts.
 */
declare const MonacoPerformanceMarks: { getMarks(): readonly { readonly name: string; readonly startTime: number }[] };

export interface Activation {
  /** Milliseconds from the call of `activate()` until it resolves. */
  readonly whole: number;
  /**
   * The extension's share: loading its file and running `activate`. VS Code's marks have whole
   * milliseconds.
   */
  readonly own: number;
  /** The shortest round trip to the window, from which VS Code reads stored state. */
  readonly roundTrip: number;
}

async function roundTrip(): Promise<number> {
  const started = performance.now();
  await vscode.commands.getCommands(true);
  return performance.now() - started;
}

/**
 * Number of similar round trips that show that the window is idle, and the maximum number that are
 * tried.
 */
const STEADY_ROUND_TRIPS = 10;
const MAX_ROUND_TRIPS = 300;

/**
 * Waits until the window is idle.
 * @returns the shortest round trip in milliseconds
 */
export async function windowAtRest(): Promise<number> {
  const times: number[] = [];
  const isSteady = (): boolean =>
    times.length >= STEADY_ROUND_TRIPS && Math.max(...times.slice(-STEADY_ROUND_TRIPS)) <= 2 * Math.min(...times);
  while (!isSteady() && times.length < MAX_ROUND_TRIPS) times.push(await roundTrip());
  return Math.min(...times);
}

/** Activates the extension in an idle window, and measures that. */
export async function measureActivation(extension: vscode.Extension<unknown>): Promise<Activation> {
  const trip = await windowAtRest();
  assert.equal(extension.isActive, false);
  const started = performance.now();
  await extension.activate();
  const activationMs = performance.now() - started;
  const getMarkTime = (step: string): number => {
    const mark = MonacoPerformanceMarks.getMarks().find(({ name }) => name === `code/extHost/${step}/${extension.id}`);
    assert.ok(mark, `VS Code notes no ${step}`);
    return mark.startTime;
  };
  const own =
    getMarkTime('didLoadExtensionCode') -
    getMarkTime('willLoadExtensionCode') +
    (getMarkTime('didActivateExtension') - getMarkTime('willActivateExtension'));
  return { whole: activationMs, own, roundTrip: trip };
}
