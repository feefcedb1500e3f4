import { act, useState, type ReactNode } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { Dropdown } from './Dropdown';

const CHOICES = ['keep', 'suppress', 'truncate'].map((value) => ({ value, label: value }));
/** Functions that save or refuse the pending choices, in order. */
let asked: ((isSaved: boolean) => Promise<void>)[];
let root: Root;

function Setting(): ReactNode {
  const [value, setValue] = useState('keep');
  const save = (wanted: string): Promise<void> =>
    new Promise((resolve) => {
      asked.push((isSaved) =>
        act(async () => {
          if (isSaved) setValue(wanted);
          resolve();
          await Promise.resolve();
        }),
      );
    });
  return <Dropdown label="Operation" value={value} choices={CHOICES} onChange={save} />;
}

const dropdown = (): HTMLSelectElement => document.querySelector('vscode-dropdown') as unknown as HTMLSelectElement;

const choose = (value: string): Promise<void> =>
  act(async () => {
    dropdown().value = value;
    dropdown().dispatchEvent(new Event('change', { bubbles: true }));
    await Promise.resolve();
  });

beforeEach(async () => {
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);
  asked = [];
  const page = document.createElement('div');
  document.body.replaceChildren(page);
  root = createRoot(page);
  await act(async () => {
    root.render(<Setting />);
    await Promise.resolve();
  });
});

afterEach(async () => {
  await act(async () => {
    root.unmount();
    await Promise.resolve();
  });
});

it('a dropdown shows the last choice while earlier ones are being saved', async () => {
  await choose('suppress');
  await choose('truncate');
  expect(dropdown().value).toBe('truncate');
  await asked[0]?.(true);
  expect(dropdown().value).toBe('truncate');
  await asked[1]?.(true);
  expect(dropdown().value).toBe('truncate');
});

it('a dropdown saves one choice at a time, and of the choices made meanwhile only the last', async () => {
  for (const value of ['suppress', 'truncate', 'suppress', 'truncate']) await choose(value);
  expect(asked).toHaveLength(1);
  await asked[0]?.(true);
  expect(asked).toHaveLength(2);
  await asked[1]?.(true);
  expect(dropdown().value).toBe('truncate');
  expect(asked).toHaveLength(2);
});

it('a dropdown returns to the saved value if the choice is rejected', async () => {
  await choose('suppress');
  await asked[0]?.(false);
  expect(dropdown().value).toBe('keep');
});

it('a dropdown saves nothing if the same value is selected again', async () => {
  await choose('keep');
  expect(asked).toEqual([]);
});
