import './setup';
import { createRoot } from 'react-dom/client';
import { App } from './App';
import { t, setLanguage } from './l10n';
import { Connection, type VsCodeApi } from './state/connection';
import { PanelProvider } from './state/panel';
import { Store } from './state/store';
import './styles/index.css';

declare const acquireVsCodeApi: () => VsCodeApi;

const host = acquireVsCodeApi();
const store = new Store();
const connection = new Connection(
  host,
  (event) => {
    if (event.type === 'welcome') setLanguage((text) => event.texts[text], event.language);
    store.take(event);
  },
  () => t('The extension did not answer. Nothing is known to have changed.'),
);

// Messages from the host come from the frame that holds this page.
window.addEventListener('message', (event: MessageEvent<unknown>) => {
  connection.receive(event.data);
});
window.addEventListener('error', (event) => {
  connection.log(`${event.message} (${event.filename}:${event.lineno})`);
});
window.addEventListener('unhandledrejection', (event) => {
  connection.log(String(event.reason));
});

const root = document.getElementById('root');
if (root) {
  createRoot(root).render(
    <PanelProvider store={store} connection={connection} host={host}>
      <App />
    </PanelProvider>,
  );
}
connection.ready();
