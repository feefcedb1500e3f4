import type { CommandStep } from './commandSteps';
import type { CommandEffect, LineRange, ExpectedPrint } from './printed';

export function describeSteps(steps: readonly CommandStep[] | undefined): string[] {
  if (!steps) return ['not a command line'];
  return steps.flatMap(({ when, printed, effects }) => {
    const descriptions = [...printed.flatMap(describePrinted), ...effects.map(describeEffect)];
    if (descriptions.length === 0) return [];
    return [`${when === 'always' ? '' : when === 'success' ? '&& ' : '|| '}${descriptions.join('; ')}`];
  });
}

function describePrinted(printed: ExpectedPrint): string[] {
  const { maxLines } = printed;
  const limitText = maxLines === Infinity ? '' : ` max ${maxLines}`;
  switch (printed.kind) {
    case 'nothing':
      return [];
    case 'lines': {
      const { path, revision, ranges, numbers } = printed;
      const source = revision === undefined ? path : `${path}@${revision}`;
      const rangesText = ranges === undefined ? 'some' : ranges.map(describeRange).join(',');
      return [`read ${source} ${rangesText}${numbers === undefined ? '' : ` #${numbers}`}`];
    }
    case 'matches':
      return [`search ${printed.path ?? '*'}${printed.isNumbered ? ' #' : ''}${limitText}`];
    case 'text':
      return [`say ${JSON.stringify(printed.text)}`];
    case 'headed':
      return [`read several${limitText}`];
    case 'diff':
    case 'status':
      return [printed.kind + limitText];
    case 'paths':
      return [`list${limitText}`];
    case 'other':
      return [maxLines === Infinity ? '?' : `? max ${maxLines}`];
  }
}

function describeRange({ first, maxLines }: LineRange): string {
  if (first === undefined) return `${maxLines} of them`;
  return maxLines === Infinity ? `${first}-$` : maxLines === 1 ? String(first) : `${first}-${first + maxLines - 1}`;
}

function describeEffect(effect: CommandEffect): string {
  switch (effect.kind) {
    case 'write':
      return `${effect.appends ? 'append' : 'write'} ${effect.path}${effect.text === undefined ? '' : ` ${JSON.stringify(effect.text)}`}`;
    case 'edit':
    case 'delete':
      return `${effect.kind} ${effect.path}`;
    case 'move':
      return `${effect.kind} ${effect.path} -> ${effect.to}`;
    case 'patch':
      return `patch ${JSON.stringify(effect.text)}`;
  }
}
