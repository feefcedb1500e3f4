import './setup';
import { createRoot } from 'react-dom/client';
import { App } from './App';
import { t, setLanguage } from './l10n';
import { HostConnection, type VsCodeApi } from './state/connection';
import { PanelProvider } from './state/panel';
import { PanelStore } from './state/store';
import './styles/index.css';

declare const acquireVsCodeApi: () => VsCodeApi;

const host = acquireVsCodeApi();
const store = new PanelStore();
const connection = new HostConnection(
  host,
  (event) => {
    if (event.type === 'welcome') setLanguage((text) => event.texts[text], event.language);
    store.applyEvent(event);
  },
  () => t('The extension did not answer. Nothing is known to have changed.'),
);

// Messages from the host come from the frame that contains this page.
window.addEventListener('message', (event: MessageEvent<unknown>) => {
  connection.receiveMessage(event.data);
});
window.addEventListener('error', (event) => {
  connection.sendLog(`${event.message} (${event.filename}:${event.lineno})`);
});
window.addEventListener('unhandledrejection', (event) => {
  connection.sendLog(String(event.reason));
});

const root = document.getElementById('root');
if (root) {
  createRoot(root).render(
    <PanelProvider store={store} connection={connection} host={host}>
      <App />
    </PanelProvider>,
  );
}
connection.sendReady();
