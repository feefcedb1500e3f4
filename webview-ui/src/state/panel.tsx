/** Gives the components what the host told, and ways to ask it for something. */
import { createContext, use, useMemo, useState, useSyncExternalStore, type ReactNode } from 'react';
import type { SettingScope } from '../../../src/panel/protocol';
import type { Connection, VsCodeApi } from './connection';
import type { Known, Store } from './store';
import { readViewState, type ViewState } from './viewState';

export interface Panel extends Known {
  readonly connection: Connection;
  readonly scope: SettingScope;
  readonly view: ViewState;
  /** @param change a function of it where what is changed hangs on what is there. */
  readonly changeView: (change: Partial<ViewState> | ((view: ViewState) => Partial<ViewState>)) => void;
  /** Goes to a section, or to a place inside of one, by its id. */
  readonly reveal: (place: string) => void;
}

const PanelContext = createContext<Panel | undefined>(undefined);

interface Props {
  readonly store: Store;
  readonly connection: Connection;
  readonly host: VsCodeApi;
  readonly children: ReactNode;
}

/** Shows its children once the host has answered. */
export function PanelProvider({ store, connection, host, children }: Props): ReactNode {
  const known = useSyncExternalStore(store.subscribe, store.get);
  const [view, setView] = useState(() => readViewState(host.getState()));
  const panel = useMemo<Panel | undefined>(() => {
    if (!known) return undefined;
    const changeView: Panel['changeView'] = (change) => {
      setView((before) => {
        const after = { ...before, ...(typeof change === 'function' ? change(before) : change) };
        host.setState(after);
        return after;
      });
    };
    const scope = known.state.workspace === undefined ? 'user' : view.scope;
    const reveal = (section: string): void => {
      store.take({ type: 'reveal', section });
    };
    return { ...known, connection, scope, view, changeView, reveal };
  }, [known, store, connection, host, view]);
  return panel && <PanelContext value={panel}>{children}</PanelContext>;
}

export function usePanel(): Panel {
  const panel = use(PanelContext);
  if (!panel) throw new Error('usePanel is for components inside of PanelProvider');
  return panel;
}
