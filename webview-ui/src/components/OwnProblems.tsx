import type { ReactNode } from 'react';
import { readablePath } from '../../../src/core/readablePath';
import { usePanel } from '../state/panel';
import { pathText, type Path } from '../state/path';
import { Problems } from './Problems';

interface OwnProblemsProps {
  readonly name: string;
  readonly path?: Path;
  /** The fields that have a control, and show their own problems there. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** What is wrong with an object as a whole, and with what stands in it and has no field here. */
export function OwnProblems({ name, path = [], fields = {} }: OwnProblemsProps): ReactNode {
  const { settings } = usePanel().state;
  const own = pathText(path);
  const start = own === '' ? '' : `${own}.`;
  const sentences = (settings[name]?.problems ?? []).flatMap((problem) => {
    if (problem.path === own) return [problem.message];
    if (!problem.path.startsWith(start)) return [];
    const inside = problem.path.slice(start.length);
    const [field = ''] = inside.split('.');
    return field in fields
      ? []
      : [`${own === '' ? readablePath(settings[name]?.value, inside) : inside}: ${problem.message}`];
  });
  return <Problems problems={sentences} />;
}
