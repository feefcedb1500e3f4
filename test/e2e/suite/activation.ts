import assert from 'node:assert/strict';
import * as vscode from 'vscode';

/** Where VS Code notes what it did when, in milliseconds since 1970; the names are those of its extHostExtensionService.ts. */
declare const MonacoPerformanceMarks: { getMarks(): readonly { readonly name: string; readonly startTime: number }[] };

/** The times of an activation, in milliseconds. */
export interface Activation {
  /** From the call of `activate()` until its promise was resolved. */
  readonly whole: number;
  /** Of it, the extension's own: loading its file and running its `activate`. The clock of VS Code's notes has whole milliseconds. */
  readonly own: number;
  /** The shortest way to the window and back, before it. VS Code fetches an extension's stored state from there. */
  readonly roundTrip: number;
}

async function roundTrip(): Promise<number> {
  const started = performance.now();
  await vscode.commands.getCommands(true);
  return performance.now() - started;
}

/** How many answers of about the same time show that the window is at rest, and with how many the wait ends in any case. */
const STEADY = 10;
const MAX_ROUND_TRIPS = 300;

/** Waits until the window has drawn itself and answers evenly. @returns the shortest round trip in milliseconds. */
export async function windowAtRest(): Promise<number> {
  const times: number[] = [];
  const steady = (): boolean => times.length >= STEADY && Math.max(...times.slice(-STEADY)) <= 2 * Math.min(...times);
  while (!steady() && times.length < MAX_ROUND_TRIPS) times.push(await roundTrip());
  return Math.min(...times);
}

/** Activates an extension that is not active, in a window at rest. */
export async function measureActivation(extension: vscode.Extension<unknown>): Promise<Activation> {
  const trip = await windowAtRest();
  assert.equal(extension.isActive, false);
  const started = performance.now();
  await extension.activate();
  const whole = performance.now() - started;
  const at = (step: string): number => {
    const mark = MonacoPerformanceMarks.getMarks().find(({ name }) => name === `code/extHost/${step}/${extension.id}`);
    assert.ok(mark, `VS Code notes no ${step}`);
    return mark.startTime;
  };
  const own =
    at('didLoadExtensionCode') -
    at('willLoadExtensionCode') +
    (at('didActivateExtension') - at('willActivateExtension'));
  return { whole, own, roundTrip: trip };
}
