import * as vscode from 'vscode';
import { formatTokens } from '../core/format';
import type { CacheState } from '../live/cacheState';
import type { LiveDecision } from '../live/events';

export const formatCacheStateAndBasis = (cache: CacheState): string =>
  `${formatCacheState(cache)} (${explainCacheState(cache)})`;

export function formatCacheState({ state }: CacheState): string {
  switch (state) {
    case 'warm':
      return vscode.l10n.t('Prompt cache: warm');
    case 'cold':
      return vscode.l10n.t('Prompt cache: cold');
    case 'none':
      return vscode.l10n.t('Prompt cache: none');
    case 'unknown':
      return vscode.l10n.t('Prompt cache: unknown');
  }
}

export function explainCacheState(cache: CacheState): string {
  if (cache.state === 'none') {
    return cache.basis === 'model'
      ? vscode.l10n.t('requests to this model are not cached')
      : vscode.l10n.t('the last answer reports nothing read or written');
  }
  if (!('ageMs' in cache)) {
    return cache.state === 'cold'
      ? vscode.l10n.t('this model was not sent the conversation before')
      : vscode.l10n.t('no answer of this model yet');
  }
  const lastRequestText = vscode.l10n.t('last request {0} earlier', formatDuration(cache.ageMs));
  return `${lastRequestText}; ${explainCacheLifetime(cache)}`;
}

function explainCacheLifetime(cache: Extract<CacheState, { readonly ageMs: number }>): string {
  if (cache.state === 'warm') {
    return cache.basis === 'vendor'
      ? vscode.l10n.t('the vendor keeps prompts for at least {0}', formatDuration(cache.spanMs))
      : vscode.l10n.t('a request still read from it after {0}', formatDuration(cache.spanMs));
  }
  if (cache.state === 'cold') {
    return cache.basis === 'vendor'
      ? vscode.l10n.t('the vendor keeps prompts for at most {0}', formatDuration(cache.spanMs))
      : vscode.l10n.t('a request read nothing from it after {0}', formatDuration(cache.spanMs));
  }
  switch (cache.basis) {
    case 'missed':
      return vscode.l10n.t('it read nothing from the cache');
    case 'between':
      return vscode.l10n.t(
        'the vendor keeps prompts for {0} to {1}',
        formatDuration(cache.span.warmMs),
        formatDuration(cache.span.coldMs),
      );
    case 'span': {
      const unknownLifetimeText = vscode.l10n.t('how long this model’s prompts are kept is not known');
      if (!cache.read || cache.read.tokens === 0) return unknownLifetimeText;
      const { tokens, of } = cache.read;
      return `${vscode.l10n.t('it read {0} of {1} tokens from the cache', formatTokens(tokens), formatTokens(of))}; ${unknownLifetimeText}`;
    }
  }
}

function formatDuration(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  if (seconds === 0) return vscode.l10n.t('less than a second');
  if (seconds < 60) return seconds === 1 ? vscode.l10n.t('1 second') : vscode.l10n.t('{0} seconds', seconds);
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return minutes === 1 ? vscode.l10n.t('1 minute') : vscode.l10n.t('{0} minutes', minutes);
  const hours = Math.floor(minutes / 60);
  return hours === 1 ? vscode.l10n.t('1 hour') : vscode.l10n.t('{0} hours', hours);
}

/** Gives figures only if everything that they depend on is known. */
export function formatCondensationSavings({ cache, saving }: LiveDecision): string {
  if (!saving) {
    return cache.state === 'unknown'
      ? vscode.l10n.t('What it saves is not known because the state of the prompt cache is not known.')
      : vscode.l10n.t('What it saves is not known because the model’s price is not known.');
  }
  const { perRequest, cacheBreak, breakEvenRequests: requests } = saving;
  const formatDollars = (value: number): string => (value < 0.00005 ? '<$0.0001' : `$${value.toFixed(4)}`);
  if (perRequest <= 0) return vscode.l10n.t('Later requests cost no less.');
  return [
    vscode.l10n.t('Each later request costs {0} less.', formatDollars(perRequest)),
    ...(cacheBreak > 0 ? [vscode.l10n.t('Rewriting the prompt cache costs {0} once.', formatDollars(cacheBreak))] : []),
    requests === undefined
      ? vscode.l10n.t('When it pays for itself is not known because its own cost is not known.')
      : `${formatBreakEven(requests)}.`,
  ].join(' ');
}

export const formatBreakEven = (requests: number): string =>
  requests === 0
    ? vscode.l10n.t('Saves from the next request on')
    : requests === 1
      ? vscode.l10n.t('Pays for itself after one request')
      : vscode.l10n.t('Pays for itself after {0} requests', requests);
