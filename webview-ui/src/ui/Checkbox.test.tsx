import { act, useState, type ReactNode } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Checkbox } from './Checkbox';

/** Functions that save or refuse the pending choices, in order. */
let asked: ((isSaved: boolean) => Promise<void>)[];
let root: Root;

function Setting(): ReactNode {
  const [checked, setChecked] = useState(false);
  const save = (wanted: boolean): Promise<void> =>
    new Promise((resolve) => {
      asked.push((isSaved) =>
        act(async () => {
          if (isSaved) setChecked(wanted);
          resolve();
          await Promise.resolve();
        }),
      );
    });
  return <Checkbox label="Run" checked={checked} onChange={save} />;
}

const render = (page: ReactNode): Promise<void> =>
  act(async () => {
    root.render(page);
    await Promise.resolve();
  });

const box = (): HTMLInputElement => document.querySelector('vscode-checkbox') as unknown as HTMLInputElement;

const click = (): Promise<void> =>
  act(async () => {
    box().click();
    await Promise.resolve();
  });

beforeEach(async () => {
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);
  asked = [];
  const page = document.createElement('div');
  document.body.replaceChildren(page);
  root = createRoot(page);
  await render(<Setting />);
});

afterEach(async () => {
  await act(async () => {
    root.unmount();
    await Promise.resolve();
  });
});

it('a checkbox shows the new value while it is being saved, and the saved value afterwards', async () => {
  await click();
  expect(box().checked).toBe(true);
  await asked[0]?.(true);
  expect(box().checked).toBe(true);
});

it('a checkbox returns to the saved value each time a change is rejected', async () => {
  for (const attempt of [0, 1]) {
    await click();
    expect(box().checked).toBe(true);
    await asked[attempt]?.(false);
    expect(box().checked).toBe(false);
  }
});

it('a checkbox shows the saved value if a change has no effect', async () => {
  const onChange = vi.fn();
  await render(<Checkbox key="fixed" label="Run" checked={false} onChange={onChange} />);
  await click();
  expect(onChange.mock.calls).toEqual([[true]]);
  expect(box().checked).toBe(false);
});

it('a checkbox follows a change from elsewhere without saving', async () => {
  const onChange = vi.fn();
  for (const checked of [false, true, false]) {
    await render(<Checkbox key="followed" label="Run" checked={checked} onChange={onChange} />);
    expect(box().checked).toBe(checked);
  }
  expect(onChange).not.toHaveBeenCalled();
});
