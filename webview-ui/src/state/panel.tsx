import { createContext, use, useMemo, useRef, useState, useSyncExternalStore, type ReactNode } from 'react';
import type { SettingScope } from '../../../src/panel/protocol';
import type { HostConnection, VsCodeApi } from './connection';
import type { PanelStoreData, PanelStore } from './store';
import { selectPersistentState, readViewState, type ViewState } from './viewState';

export interface Panel extends PanelStoreData {
  readonly connection: HostConnection;
  readonly scope: SettingScope;
  readonly view: ViewState;
  /** @param change a function of the view if the change depends on it */
  readonly changeView: (change: Partial<ViewState> | ((view: ViewState) => Partial<ViewState>)) => void;
  /** Goes to a section, or to a place in one, by its ID. */
  readonly reveal: (place: string) => void;
}

const PanelContext = createContext<Panel | undefined>(undefined);

interface PanelProviderProps {
  readonly store: PanelStore;
  readonly connection: HostConnection;
  readonly host: VsCodeApi;
  readonly children: ReactNode;
}

/** Shows its children once the host has answered. */
export function PanelProvider({ store, connection, host, children }: PanelProviderProps): ReactNode {
  const panelData = useSyncExternalStore(store.subscribe, store.get);
  // VS Code keeps a page's state over a reload; for a page in a new tab, the host has the lasting
  // part.
  const [own, setOwn] = useState(() => (host.getState() === undefined ? undefined : readViewState(host.getState())));
  const view = useMemo(() => own ?? readViewState(panelData?.welcome.kept), [own, panelData?.welcome.kept]);
  const sentState = useRef<string>(undefined);
  const panel = useMemo<Panel | undefined>(() => {
    if (!panelData) return undefined;
    const changeView: Panel['changeView'] = (change) => {
      setOwn((kept) => {
        const viewBefore = kept ?? view;
        const viewAfter = { ...viewBefore, ...(typeof change === 'function' ? change(viewBefore) : change) };
        host.setState(viewAfter);
        const persistentState = selectPersistentState(viewAfter);
        const text = JSON.stringify(persistentState);
        if (text !== (sentState.current ??= JSON.stringify(selectPersistentState(viewBefore))))
          connection.sendViewState(persistentState);
        sentState.current = text;
        return viewAfter;
      });
    };
    const scope = panelData.state.workspace === undefined ? 'user' : view.scope;
    const revealSection = (section: string): void => {
      store.applyEvent({ type: 'reveal', section });
    };
    return { ...panelData, connection, scope, view, changeView, reveal: revealSection };
  }, [panelData, store, connection, host, view]);
  return panel && <PanelContext value={panel}>{children}</PanelContext>;
}

export function usePanel(): Panel {
  const panel = use(PanelContext);
  if (!panel) throw new Error('usePanel is for components inside of PanelProvider');
  return panel;
}
