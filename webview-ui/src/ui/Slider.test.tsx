import fc from 'fast-check';
import { act, type ReactNode } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { useOptimisticChoice } from './chosen';
import { Slider } from './Slider';

/** The saved value of the setting. */
let saved: number;
/** Answers the oldest running save; undefined if none runs. */
let answer: ((isAccepted: boolean) => void) | undefined;
let saves: number;
let root: Root;

function Setting(): ReactNode {
  const { shownValue, showValue, chooseValue } = useOptimisticChoice(saved, (wanted) => {
    expect(answer, 'a save starts while another one runs').toBeUndefined();
    saves++;
    return new Promise<void>((resolve) => {
      answer = (isAccepted) => {
        answer = undefined;
        if (isAccepted) saved = wanted;
        resolve();
      };
    });
  });
  return (
    <Slider
      label="Threshold"
      value={shownValue}
      min={0}
      max={1000}
      step={1}
      describe={String}
      onMove={showValue}
      onCommit={(value) => void chooseValue(value)}
    />
  );
}

const slider = (): HTMLInputElement => document.querySelector('.slider') as HTMLInputElement;

const render = (): Promise<void> =>
  act(async () => {
    root.render(<Setting />);
    await Promise.resolve();
  });

/** Acts like the browser, where the key moves the shown value. */
const press = (step: number): Promise<void> =>
  act(async () => {
    const next = String(Number(slider().value) + step);
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set?.call(slider(), next);
    slider().dispatchEvent(new Event('input', { bubbles: true }));
    await Promise.resolve();
  });

const release = (): Promise<void> =>
  act(async () => {
    slider().dispatchEvent(new KeyboardEvent('keyup', { bubbles: true }));
    await Promise.resolve();
  });

async function tap(): Promise<void> {
  await press(1);
  await release();
}

/** Answers the running save. As from VS Code, the settings reach the page before the answer. */
const settle = (isAccepted: boolean): Promise<void> =>
  act(async () => {
    answer?.(isAccepted);
    root.render(<Setting />);
    await new Promise((resolve) => setTimeout(resolve));
  });

beforeEach(async () => {
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);
  const page = document.createElement('div');
  document.body.replaceChildren(page);
  root = createRoot(page);
  saved = 500;
  saves = 0;
  answer = undefined;
  await render();
});

afterEach(async () => {
  await act(async () => {
    root.unmount();
    await Promise.resolve();
  });
});

it('a slider counts each tap of an arrow key, however late saves are answered', async () => {
  const event = fc.constantFrom('right', 'left', 'hold', 'answer');
  await fc.assert(
    fc.asyncProperty(fc.array(event, { maxLength: 20 }), async (events) => {
      saved = 500;
      await render();
      let expected = saved;
      for (const next of events) {
        if (next === 'answer') await settle(true);
        else {
          const step = next === 'left' ? -1 : 1;
          await press(step);
          // Auto-repeat makes another step of the same key before it is released.
          if (next === 'hold') {
            await settle(true);
            await press(step);
          }
          await release();
          expected += next === 'hold' ? 2 * step : step;
        }
        expect(Number(slider().value)).toBe(expected);
      }
      while (answer) await settle(true);
      expect(Number(slider().value)).toBe(expected);
      expect(saved).toBe(expected);
    }),
  );
});

it('a slider saves only the last of many taps once the previous save is answered', async () => {
  for (let taps = 0; taps < 10; taps++) await tap();
  while (answer) await settle(true);
  expect(saved).toBe(510);
  expect(saves).toBe(2);
});

it('a slider returns to the saved value if the last value is refused', async () => {
  await tap();
  await tap();
  await settle(true);
  await settle(false);
  expect(slider().value).toBe('501');
});

it('a slider that is moved back before it is released saves nothing', async () => {
  await press(1);
  await press(-1);
  await release();
  expect(saves).toBe(0);
});
