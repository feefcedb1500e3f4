import { useEffect, useLayoutEffect, useRef, useState, type ReactNode } from 'react';
import { Outline, type OutlineEntry } from './components/Outline';
import { ScopeSwitch } from './components/ScopeSwitch';
import { SearchBox } from './components/SearchBox';
import { t } from './l10n';
import { Account } from './sections/account/Account';
import { History } from './sections/history/History';
import { AgentSettings, OtherSettings } from './sections/OtherSettings';
import { Overview } from './sections/overview/Overview';
import { Profiles } from './sections/profiles/Profiles';
import { Presets } from './sections/presets/Presets';
import { PreviewSection } from './sections/preview/Preview';
import { ProviderSection } from './sections/ProviderSection';
import { Smart } from './sections/smart/Smart';
import { Strategy } from './sections/strategy/Strategy';
import { keepFocus } from './state/keepFocus';
import { usePanel } from './state/panel';
import { listenForUndoKey } from './state/undoKey';
import { sectionOf } from './state/places';
import { FOUND, SearchContext, ShowSectionContext } from './state/search';

/** Providers whose configuration is more than a form. */
const SECTIONS: Readonly<Record<string, typeof ProviderSection>> = { smart: Smart, strategy: Strategy };

/** The page: whose settings, a search, the outline, and all sections below each other. */
export function App(): ReactNode {
  const { welcome } = usePanel();
  const [query, setQuery] = useState('');
  const searched = query.trim().toLowerCase();
  const [found, setFound] = useState(0);
  const main = useRef<HTMLElement>(null);
  const show = useReveal();
  useScrollPlace(main);
  useEffect(() => keepFocus(document.body), []);
  useEffect(listenForUndoKey, []);
  const [hits, setHits] = useState<ReadonlySet<string>>(new Set());
  useLayoutEffect(() => {
    const places = searched === '' ? [] : [...(main.current?.querySelectorAll(FOUND) ?? [])];
    setFound(places.length);
    setHits(new Set(places.flatMap((place) => place.closest('.section')?.id ?? [])));
  }, [searched]);

  const entries: readonly OutlineEntry[] = [
    { id: 'overview', title: t('Overview') },
    { id: 'profiles', title: t('Profiles') },
    ...welcome.providers.map(({ id, name }) => ({ id, title: t(name) })),
    { id: 'presets', title: t('Presets') },
    { id: 'preview', title: t('Preview') },
    { id: 'agent', title: t('Agent mode') },
    { id: 'history', title: t('History and savings') },
    { id: 'account', title: t('Session costs') },
    { id: 'more', title: t('More settings') },
  ];
  const leaveFor = (id: string): void => {
    setQuery('');
    show(id);
  };
  const result = searched === '' ? '' : found === 0 ? t('Nothing found') : t('{0} found', found);
  return (
    <SearchContext value={searched}>
      <header className="top">
        <h1 className="visually-hidden">{t('Context Condenser')}</h1>
        <SearchBox value={query} onChange={setQuery} result={result} />
        <ScopeSwitch />
      </header>
      <div className="columns">
        <Outline entries={searched === '' ? entries : entries.filter(({ id }) => hits.has(id))} onChoose={leaveFor} />
        <ShowSectionContext value={leaveFor}>
          <main ref={main} className={searched === '' ? 'main' : 'main searching'}>
            <Overview />
            <Profiles />
            {welcome.providers.map((provider) => {
              const Shown = SECTIONS[provider.id] ?? ProviderSection;
              return <Shown key={provider.id} provider={provider} />;
            })}
            <Presets />
            <PreviewSection />
            <AgentSettings />
            <History />
            <Account />
            <OtherSettings />
          </main>
        </ShowSectionContext>
      </div>
    </SearchContext>
  );
}

/** Unfolds a section and goes to it, or to a place in it: chosen in the outline, by a button, or by a command. */
function useReveal(): (id: string) => void {
  const { view, changeView, wanted } = usePanel();
  const [target, setTarget] = useState<{ readonly id: string }>();
  const show = (id: string): void => {
    const section = sectionOf(id);
    if (!view.open.includes(section)) changeView({ open: [...view.open, section] });
    setTarget({ id });
  };
  useEffect(() => {
    if (wanted) show(wanted.section);
    // Each request is followed once; what is unfolded by then doesn't make it a new one.
  }, [wanted]);
  useLayoutEffect(() => {
    const place = target && document.getElementById(target.id);
    place?.scrollIntoView({ block: 'start' });
    place?.querySelector<HTMLElement>('button, vscode-dropdown')?.focus({ preventScroll: true });
  }, [target]);
  return show;
}

/** Goes back to the place that was shown before a reload, and keeps it. */
function useScrollPlace(main: React.RefObject<HTMLElement | null>): void {
  const { view, changeView } = usePanel();
  const first = useRef(view.scroll);
  const change = useRef(changeView);
  useLayoutEffect(() => {
    document.documentElement.scrollTop = first.current;
  }, [main]);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const onScroll = (): void => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        change.current({ scroll: document.documentElement.scrollTop });
      }, 200);
    };
    window.addEventListener('scroll', onScroll, { passive: true });
    return () => {
      clearTimeout(timer);
      window.removeEventListener('scroll', onScroll);
    };
  }, []);
}
