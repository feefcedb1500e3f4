import {
  memo,
  startTransition,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  type ReactNode,
} from 'react';
import type { ProviderDescription } from '../../src/panel/protocol';
import { SettingsGroup } from './components/GroupBlock';
import { NavigationOutline } from './components/Outline';
import { ScopeSwitch } from './components/ScopeSwitch';
import { SearchAnswers } from './components/SearchAnswers';
import { SearchBox } from './components/SearchBox';
import { listNavigationGroups, makeGroupPlace, getSectionOfPlace, type NavigationGroup } from './groups';
import { t } from './l10n';
import { AccountSection } from './sections/account/Account';
import { ChatModelsSection } from './sections/ChatModels';
import { HistorySection } from './sections/history/History';
import { OtherSettings, SettingsSection } from './sections/OtherSettings';
import { ComparisonSection } from './sections/preview/Comparison';
import { PreviewSection } from './sections/preview/Preview';
import { ProfilesSection } from './sections/profiles/Profiles';
import { ProviderSection } from './sections/ProviderSection';
import { SmartSection } from './sections/smart/Smart';
import { StartSection } from './sections/start/Start';
import { StrategySection } from './sections/strategy/Strategy';
import { moveFocusWhenRemoved } from './state/keepFocus';
import { keepPlaceOnResize } from './state/keepPlace';
import { usePanel } from './state/panel';
import { highlightWords, orderHits } from './state/rankHits';
import { listenForUndoKey } from './state/undoKey';
import { IsSearchingContext, SEARCHABLE_ELEMENTS_SELECTOR, SearchContext, ShowSectionContext } from './state/search';
import { Button } from './ui';

const SECTION_COMPONENTS: Readonly<Record<string, () => ReactNode>> = {
  start: StartSection,
  profiles: ProfilesSection,
  chat: ChatModelsSection,
  preview: PreviewSection,
  comparison: ComparisonSection,
  history: HistorySection,
  account: AccountSection,
  arrival: () => <SettingsSection id="arrival" />,
  stored: () => <SettingsSection id="stored" />,
  more: OtherSettings,
};

/** All other providers have only a form generated from their schema. */
const PROVIDER_COMPONENTS: Readonly<Record<string, typeof ProviderSection>> = {
  smart: SmartSection,
  strategy: StrategySection,
};

/** Pixels from the top within which a group counts as current. */
const READING_LINE_PIXELS = 120;

export function App(): ReactNode {
  const { welcome, state } = usePanel();
  const [typedText, setTypedText] = useState('');
  const [query, setQuery] = useState('');
  const search = (text: string): void => {
    setTypedText(text);
    // The box shows what is typed before the sections are searched.
    startTransition(() => {
      setQuery(text);
    });
  };
  const clearSearch = useCallback((): void => {
    setTypedText('');
    setQuery('');
  }, []);
  const searchedText = query.trim().toLowerCase();
  const [hitCount, setHitCount] = useState(0);
  const main = useRef<HTMLElement>(null);
  const { providers } = welcome;
  const provider = state.settings['provider']?.value;
  const groups = useMemo(() => listNavigationGroups(providers, provider), [providers, provider]);
  const revealPlace = useRevealPlace(groups);
  const currentGroup = useGroupInView(main);
  useRestoredScrollPosition(main);
  useEffect(() => (main.current ? keepPlaceOnResize(main.current) : undefined), []);
  useEffect(() => moveFocusWhenRemoved(document.body), []);
  useEffect(listenForUndoKey, []);
  const [hits, setHits] = useState<ReadonlySet<string>>(new Set());
  useLayoutEffect(() => {
    const removeOrder = searchedText !== '' && main.current ? orderHits(main.current, searchedText) : undefined;
    if (searchedText !== '') document.documentElement.scrollTop = 0;
    const places = searchedText === '' ? [] : [...(main.current?.querySelectorAll(SEARCHABLE_ELEMENTS_SELECTOR) ?? [])];
    setHitCount(places.length);
    setHits(new Set(places.flatMap((place) => place.closest('.section')?.id ?? [])));
    return removeOrder;
  }, [searchedText]);
  useEffect(
    () => (searchedText !== '' && main.current ? highlightWords(main.current, searchedText) : undefined),
    [searchedText],
  );

  const leaveSearchFor = useCallback(
    (id: string): void => {
      clearSearch();
      revealPlace(id);
    },
    [clearSearch, revealPlace],
  );
  const result = searchedText === '' ? '' : hitCount === 0 ? t('Nothing found') : t('{0} found', hitCount);
  const shownGroups =
    searchedText === '' ? groups : groups.filter(({ sections }) => sections.some((section) => hits.has(section.id)));
  const outline = (
    <NavigationOutline
      groups={shownGroups}
      current={searchedText === '' ? currentGroup : undefined}
      onChoose={leaveSearchFor}
    />
  );
  return (
    <SearchContext value={searchedText}>
      <IsSearchingContext value={searchedText !== ''}>
        <header className="top">
          <h1 className="visually-hidden">{t('Context Condenser')}</h1>
          <SearchBox value={typedText} onChange={search} result={result} />
          <ScopeSwitch />
          <div className="outline-bar">{outline}</div>
        </header>
        <div className="columns">
          <div className="outline-side">{outline}</div>
          <ShowSectionContext value={leaveSearchFor}>
            <main ref={main} className={searchedText === '' ? 'main' : 'main searching'}>
              {searchedText !== '' && hitCount === 0 && (
                <div className="nothing-found">
                  <p>{t('No settings found for “{0}”', query.trim())}</p>
                  <Button
                    onClick={() => {
                      clearSearch();
                      document.querySelector<HTMLElement>('.search-input')?.focus();
                    }}
                  >
                    {t('Clear search')}
                  </Button>
                </div>
              )}
              {searchedText !== '' && <SearchAnswers />}
              <SettingsGroups groups={groups} providers={providers} />
            </main>
          </ShowSectionContext>
        </div>
      </IsSearchingContext>
    </SearchContext>
  );
}

interface SettingsGroupsProps {
  readonly groups: readonly NavigationGroup[];
  readonly providers: readonly ProviderDescription[];
}

/** Memoized, since each key in the search box renders the page around the groups again. */
const SettingsGroups = memo(function SettingsGroups({ groups, providers }: SettingsGroupsProps): ReactNode {
  return groups.map((group) => (
    <SettingsGroup key={group.id} group={group}>
      {group.sections.map(({ id }) => {
        const provider = providers.find((each) => each.id === id);
        const ProviderComponent = PROVIDER_COMPONENTS[id] ?? ProviderSection;
        const SectionComponent = SECTION_COMPONENTS[id];
        return provider ? (
          <ProviderComponent key={id} provider={provider} />
        ) : (
          SectionComponent && <SectionComponent key={id} />
        );
      })}
    </SettingsGroup>
  ));
});

/**
 * Returns a function that expands the section with an ID, or the section of a group or place, and
 * scrolls to it.
 */
function useRevealPlace(groups: readonly NavigationGroup[]): (id: string) => void {
  const { view, changeView, wanted: requestedPlace } = usePanel();
  const [target, setTarget] = useState<{ readonly id: string }>();
  const showPlace = useCallback(
    (id: string): void => {
      const group = groups.find((each) => each.id === id);
      const unfoldedSections = group ? group.unfolds : [getSectionOfPlace(id)];
      const openSections = new Set([...view.open, ...unfoldedSections]);
      if (openSections.size > view.open.length) changeView({ open: [...openSections] });
      setTarget({ id: group ? makeGroupPlace(group.id) : id });
    },
    [groups, view.open, changeView],
  );
  useEffect(() => {
    if (requestedPlace) showPlace(requestedPlace.section);
    // Depends only on new requests, not on changes of what is expanded.
  }, [requestedPlace]);
  useLayoutEffect(() => {
    const place = target && document.getElementById(target.id);
    place?.scrollIntoView({ block: 'start' });
    place
      ?.querySelector<HTMLElement>('button, input, vscode-dropdown, vscode-text-field')
      ?.focus({ preventScroll: true });
  }, [target]);
  useStayAtPlace(target);
  return showPlace;
}

/** Keeps the place in view while content above it arrives, until the user does something. */
function useStayAtPlace(target: { readonly id: string } | undefined): void {
  useEffect(() => {
    const place = target && document.getElementById(target.id);
    if (!place) return undefined;
    const observer = new ResizeObserver(() => {
      place.scrollIntoView({ block: 'start' });
    });
    observer.observe(document.body);
    const events = new AbortController();
    const stop = (): void => {
      observer.disconnect();
      events.abort();
    };
    for (const event of ['wheel', 'pointerdown', 'touchstart', 'keydown']) {
      window.addEventListener(event, stop, { capture: true, passive: true, signal: events.signal });
    }
    return stop;
  }, [target]);
}

/** Scrolling moves the focused control out of view, but not the focus. */
const hasFocusInView = (group: HTMLElement): boolean =>
  group.contains(document.activeElement) && group.getBoundingClientRect().bottom > READING_LINE_PIXELS;

function useGroupInView(main: React.RefObject<HTMLElement | null>): string {
  const [currentGroup, setCurrentGroup] = useState('start');
  useEffect(() => {
    const updateCurrentGroup = (): void => {
      const groups = [...(main.current?.querySelectorAll<HTMLElement>('.page-group') ?? [])];
      const root = document.documentElement;
      const findLastAbove = (pixels: number): HTMLElement | undefined =>
        groups.findLast((group) => group.getBoundingClientRect().top <= pixels);
      // Groups at the end may be too short to reach the top: there, focus or the middle of the
      // window decides.
      const isAtEnd = root.scrollTop > 0 && root.scrollTop + root.clientHeight >= root.scrollHeight - 2;
      const readGroup = isAtEnd
        ? (groups.find(hasFocusInView) ?? findLastAbove(root.clientHeight / 2))
        : findLastAbove(READING_LINE_PIXELS);
      setCurrentGroup((readGroup ?? groups[0])?.dataset['group'] ?? 'start');
    };
    const events = ['scroll', 'resize', 'focusin'] as const;
    for (const event of events) window.addEventListener(event, updateCurrentGroup, { passive: true });
    return () => {
      for (const event of events) window.removeEventListener(event, updateCurrentGroup);
    };
  }, [main]);
  return currentGroup;
}

function useRestoredScrollPosition(main: React.RefObject<HTMLElement | null>): void {
  const { view, changeView } = usePanel();
  const firstScroll = useRef(view.scroll);
  const change = useRef(changeView);
  useLayoutEffect(() => {
    document.documentElement.scrollTop = firstScroll.current;
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
