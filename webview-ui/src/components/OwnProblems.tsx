import type { ReactNode } from 'react';
import { formatReadablePath } from '../../../src/core/readablePath';
import { usePanel } from '../state/panel';
import { formatPath, type Path } from '../state/path';
import { ProblemList } from './Problems';

interface SettingProblemsProps {
  readonly name: string;
  readonly path?: Path;
  /** Fields with a control of their own, which shows their problems. */
  readonly fields?: Readonly<Record<string, unknown>>;
}

/** Shows problems of an object as a whole, and of content that has no field here. */
export function ProblemsOfSetting({ name, path = [], fields = {} }: SettingProblemsProps): ReactNode {
  const { settings } = usePanel().state;
  const ownPath = formatPath(path);
  const start = ownPath === '' ? '' : `${ownPath}.`;
  const sentences = (settings[name]?.problems ?? []).flatMap((problem) => {
    if (problem.path === ownPath) return [problem.message];
    if (!problem.path.startsWith(start)) return [];
    const pathInside = problem.path.slice(start.length);
    const [field = ''] = pathInside.split('.');
    return field in fields
      ? []
      : [`${ownPath === '' ? formatReadablePath(settings[name]?.value, pathInside) : pathInside}: ${problem.message}`];
  });
  return <ProblemList problems={sentences} />;
}
