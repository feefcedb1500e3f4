import { expect, it } from 'vitest';
import type { SettingHandle } from '../../state/useSetting';
import { getCurrentPreset } from './smartValue';

const setting = (value: unknown, isSet: boolean): SettingHandle => ({ value, isSet }) as SettingHandle;

it.each([
  ['its own', setting('balanced', true), 'file-aware', 'balanced'],
  ['the one that holds without it', setting({ version: 1, passes: [] }, false), 'file-aware', 'file-aware'],
  ['none beside passes of its own', setting({ version: 1, passes: [] }, true), 'file-aware', undefined],
  ['none if passes are inherited', setting({ version: 1, passes: [] }, false), { passes: [] }, undefined],
])('the current preset of a settings scope is %s', (_name, own, inherited, expected) => {
  expect(getCurrentPreset(own, inherited)).toBe(expected);
});
