/**
 * Tests a field over settings that answer and change at any time. No typed text may be lost, and
 * nothing may be stuck.
 */
import fc from 'fast-check';
import { act, type ReactNode } from 'react';
import { createRoot } from 'react-dom/client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { useFieldDraft, type FieldDraft, type ParsedText } from './useDraft';
import type { SettingHandle } from './useSetting';

beforeEach(() => {
  vi.stubGlobal('IS_REACT_ACT_ENVIRONMENT', true);
});

/** The value of a setting that is not set. */
const DEFAULT = 1;
/** The host rejects numbers from here on. */
const TOO_MANY = 900;
const TEXTS = ['1', '2', '3', '03', '', 'few', '999'] as const;

/** Parses a text. Without a value, the setting is reset. */
function parse(text: string): ParsedText {
  if (text === '') return {};
  return /^\d+$/.test(text) ? { value: Number(text) } : { problem: 'no number' };
}
const isRefused = (text: string): boolean => text === 'few' || Number(text) >= TOO_MANY;
const meant = (text: string): number => Number(text === '' ? DEFAULT : text);

/**
 * A step of the test: by the user, by the host of the settings, or a message between the host and
 * the page.
 */
type Step = { readonly type: string } | { readonly outside: number } | 'leave' | 'write' | 'answer' | 'tell';

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({ type: fc.constantFrom(...TEXTS) }),
  fc.record({ outside: fc.integer({ min: 1, max: 4 }) }),
  ...(['leave', 'leave', 'write', 'answer', 'tell'] as const).map((name) => fc.constant(name)),
);

class Bench {
  private draft!: FieldDraft;
  private written: number | undefined;
  private readonly asked: { readonly value: unknown; readonly answer: (problems: readonly string[]) => void }[] = [];
  private readonly answers: (() => void)[] = [];
  private readonly news: (number | undefined)[] = [];
  private told: number | undefined;
  private readonly root = createRoot(document.createElement('div'));
  /** The text that the person sees while typing. */
  typed: string | undefined;

  get text(): string {
    return this.draft.text;
  }
  get problems(): readonly string[] {
    return this.draft.problems;
  }
  get value(): number {
    return this.written ?? DEFAULT;
  }
  get saves(): number {
    return this.asked.length;
  }

  async show(): Promise<void> {
    const setting = {
      value: this.told ?? DEFAULT,
      isSet: this.told !== undefined,
      problems: [],
      save: (value: unknown) => new Promise((answer) => this.asked.push({ value, answer })),
      check: () => Promise.resolve([]),
      hold: () => undefined,
    } as unknown as SettingHandle;
    const Field = (): ReactNode => {
      this.draft = useFieldDraft(setting, String(setting.value), parse);
      return null;
    };
    await act(async () => {
      // The component's type must stay the same, or React would remount the component.
      this.render = Field;
      this.root.render(<Stable bench={this} />);
      await Promise.resolve();
    });
  }
  render: () => ReactNode = () => null;

  async do(what: Step): Promise<void> {
    if (typeof what === 'object' && 'type' in what) {
      this.typed = what.type;
      await act(async () => {
        this.draft.onInput(what.type);
        await Promise.resolve();
      });
    } else if (typeof what === 'object') this.write(what.outside);
    else if (what === 'leave') {
      await act(async () => {
        this.draft.onCommit(this.draft.text);
        await Promise.resolve();
      });
      this.typed = undefined;
    } else if (what === 'write') this.take();
    else if (what === 'answer') {
      await act(async () => {
        this.answers.shift()?.();
        await Promise.resolve();
      });
    } else if (this.news.length > 0) {
      this.told = this.news.shift();
      await this.show();
    }
  }

  async close(): Promise<void> {
    await act(async () => {
      this.root.unmount();
      await Promise.resolve();
    });
  }

  /** Lets the host and its messages finish their work. */
  async settle(): Promise<void> {
    while (this.asked.length + this.answers.length + this.news.length > 0)
      for (const what of ['write', 'answer', 'tell'] as const) await this.do(what);
  }

  private write(value: number | undefined): void {
    if (value === this.written) return;
    this.written = value;
    this.news.push(value);
  }

  private take(): void {
    const next = this.asked.shift();
    if (!next) return;
    const value = next.value as number | undefined;
    const isWrong = value !== undefined && value >= TOO_MANY;
    if (!isWrong) this.write(value);
    this.answers.push(() => {
      next.answer(isWrong ? ['too many'] : []);
    });
  }
}

const Stable = ({ bench }: { readonly bench: Bench }): ReactNode => bench.render();

const benches: Bench[] = [];
const opened = async (): Promise<Bench> => {
  const bench = new Bench();
  benches.push(bench);
  await bench.show();
  return bench;
};
// The last text's validation may be pending and would run after the page is gone.
afterEach(async () => {
  for (const bench of benches.splice(0)) await bench.close();
});

it('a text field’s text stays until the field is left, whatever arrives from the settings meanwhile', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 20 }), async (steps) => {
      const bench = await opened();
      for (const what of steps) {
        await bench.do(what);
        if (bench.typed !== undefined) expect(bench.text).toBe(bench.typed);
      }
    }),
  );
});

it('a text field’s last text is saved or stays with an error, then the field shows the setting', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 20 }),
      fc.constantFrom(...TEXTS),
      fc.integer({ min: 5, max: 9 }),
      async (steps, last, outside) => {
        const bench = await opened();
        for (const what of steps) await bench.do(what);
        // The person does not see outside changes that have not been reported.
        if (!steps.some((what) => typeof what === 'object' && 'outside' in what)) {
          await bench.do({ type: last });
          await bench.do('leave');
          await bench.settle();
          if (isRefused(last)) expect([bench.text, bench.problems.length]).toEqual([last, 1]);
          else expect([bench.value, bench.text]).toEqual([meant(last), String(meant(last))]);
        } else {
          await bench.do('leave');
          await bench.settle();
        }
        // The field is not stuck: it shows the next change.
        await bench.do({ outside });
        await bench.settle();
        expect([bench.text, bench.problems]).toEqual([String(outside), []]);
      },
    ),
  );
});

it('a text field saves nothing if its text is unchanged', async () => {
  const bench = await opened();
  await bench.do('leave');
  await bench.do({ type: '999' });
  await bench.do('leave');
  await bench.settle();
  await bench.do({ type: '1' });
  await bench.do('leave');
  expect(bench.saves).toBe(0);
  expect(bench.problems).toEqual([]);
});

it.each([['03'], ['2', '3']])(
  'a text field’s rejected text stays if an earlier saved text arrives: %s',
  async (...before) => {
    const bench = await opened();
    for (const text of before) {
      await bench.do({ type: text });
      await bench.do('leave');
    }
    await bench.do({ type: 'few' });
    await bench.do('leave');
    await bench.settle();
    expect([bench.value, bench.text, bench.problems]).toEqual([3, 'few', ['no number']]);
    await bench.do({ outside: 5 });
    await bench.settle();
    expect([bench.text, bench.problems]).toEqual(['5', []]);
  },
);
