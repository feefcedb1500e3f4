// One of everything that a scenario reads: a scripted model, quick pick, progress, notification with buttons, diff, save box, log channel, dialog, webview.
const vscode = require('vscode');

exports.activate = (context) => {
  const log = vscode.window.createOutputChannel('Probe', { log: true });
  const texts = {
    provideTextDocumentContent: (uri) =>
      uri.path.endsWith('before') ? 'first line\nsecond line\nthird line' : 'first line\nthird line',
  };
  const command = (name, run) => context.subscriptions.push(vscode.commands.registerCommand(name, run));
  context.subscriptions.push(log, vscode.workspace.registerTextDocumentContentProvider('probe', texts));

  command('probe.pick', async () => {
    const items = ['One', 'Two', 'Three'].map((label, index) => ({
      label,
      description: `${(index + 1) * 1000} tokens`,
      detail: `the detail of ${label.toLowerCase()}`,
    }));
    const picked = await vscode.window.showQuickPick(items, { title: 'Probe', placeHolder: 'Choose one' });
    if (picked === undefined) return;
    log.info(`picked ${picked.label}`);
    const options = { location: vscode.ProgressLocation.Notification, title: 'Working', cancellable: true };
    const cancelled = await vscode.window.withProgress(
      options,
      (_progress, token) =>
        new Promise((resolve) => {
          const timer = setTimeout(() => resolve(false), picked.label === 'Three' ? 60_000 : 300);
          token.onCancellationRequested(() => (clearTimeout(timer), resolve(true)));
        }),
    );
    if (cancelled) return void vscode.window.showWarningMessage('Cancelled, nothing was changed');
    const button = await vscode.window.showInformationMessage(
      `${picked.label} is done`,
      'Show Diff',
      'Save Copy…',
      'Details',
    );
    if (button === 'Details') log.show();
    if (button === 'Show Diff') {
      const [before, after] = ['before', 'after'].map((name) => vscode.Uri.parse(`probe:/${name}`));
      await vscode.commands.executeCommand('vscode.diff', before, after, 'Before ↔ After');
    }
    if (button === 'Save Copy…') {
      const target = await vscode.window.showSaveDialog({ title: 'Save Copy' });
      if (target) await vscode.workspace.fs.writeFile(target, new TextEncoder().encode('copy'));
    }
  });
  command('probe.fail', async () => {
    log.error('it failed');
    const choice = await vscode.window.showErrorMessage('It failed: the file is broken', 'Retry');
    if (choice === 'Retry') await vscode.window.showInformationMessage('Really?', { modal: true }, 'Yes');
  });
  command('probe.panel', () => {
    const panel = vscode.window.createWebviewPanel('probe', 'Probe Panel', vscode.ViewColumn.One, {
      enableScripts: true,
    });
    panel.webview.html = '<h1>Hello from the panel</h1><button onclick="this.textContent = \'clicked\'">click</button>';
  });

  const isOffered = () => vscode.workspace.getConfiguration('probe').get('offersModel', true);
  const changed = new vscode.EventEmitter();
  context.subscriptions.push(
    changed,
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration('probe.offersModel')) changed.fire();
    }),
  );

  /** Lists the workspace through VS Code's agent, then answers with what it saw. */
  const provider = {
    onDidChangeLanguageModelChatInformation: changed.event,
    provideLanguageModelChatInformation: ({ configuration }) =>
      configuration === undefined || !isOffered()
        ? []
        : [
            {
              id: 'm1',
              name: 'Probe Model',
              family: 'probe',
              version: '1',
              maxInputTokens: 123_000,
              maxOutputTokens: 4_000,
              capabilities: { toolCalling: true },
            },
          ],
    async provideLanguageModelChatResponse(_model, messages, options, progress, token) {
      const parts = messages.flatMap((message) => [...message.content]);
      const text = JSON.stringify(parts);
      const result = parts.find((part) => part instanceof vscode.LanguageModelToolResultPart);
      if (!options.tools?.length) return progress.report(new vscode.LanguageModelTextPart('A title'));
      if (text.includes('wait for me') && result) {
        log.info('waiting');
        await new Promise((resolve) => token.onCancellationRequested(resolve));
        return void log.info('cancelled');
      }
      if (result) return progress.report(new vscode.LanguageModelTextPart(`I saw ${result.content[0].value}`));
      const path = vscode.workspace.workspaceFolders[0].uri.fsPath;
      progress.report(new vscode.LanguageModelToolCallPart('call-1', 'list_dir', { path }));
    },
    provideTokenCount: (_model, text) => Promise.resolve(Math.ceil(JSON.stringify(text).length / 4)),
  };
  context.subscriptions.push(vscode.lm.registerLanguageModelChatProvider('condenser-probe', provider));
};
