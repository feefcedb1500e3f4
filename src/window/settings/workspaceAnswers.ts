/**
 * The user is asked once for consent to a workspace's settings; the answer is stored for the
 * workspace.
 */
import * as vscode from 'vscode';
import type { WorkspaceQuestion, WorkspaceQuestions } from '../../settings/workspaceRules';
import type { Services } from '../services';
import { showWarningMessage } from '../notifications';

type AnswerStore = Pick<vscode.Memento, 'get' | 'update'>;

/** Set by the panel or the commands, whichever is loaded first. Until then nothing is allowed. */
let storedAnswers: AnswerStore | undefined;

export function setAnswerStore(memento: AnswerStore): void {
  storedAnswers = memento;
}

const makeAnswerKey = (question: string): string => `contextCondenser.workspaceAnswer.${question}`;

export const isAnsweredWithAllow = (question: string): boolean =>
  storedAnswers?.get<boolean>(makeAnswerKey(question)) === true;

/** Asks each unanswered question once per window. */
export class WorkspaceAsker {
  private readonly askedKeys = new Set<string>();

  constructor(private readonly services: Services) {}

  askQuestions({ choice, prompt }: WorkspaceQuestions): void {
    if (choice) void this.askOnce(choice, describeChoices(choice));
    if (prompt) void this.askOnce(prompt, describePrompt());
  }

  private async askOnce(question: WorkspaceQuestion, text: string): Promise<void> {
    const { log, settingsChanged } = this.services;
    if (this.askedKeys.has(question.key) || storedAnswers?.get<boolean>(makeAnswerKey(question.key)) !== undefined)
      return;
    this.askedKeys.add(question.key);
    log.warn([text, ...question.prompts].join('\n'));
    const allowLabel = vscode.l10n.t('Allow in This Workspace');
    const refuseLabel = vscode.l10n.t('Use My Own Settings');
    const showLabel = vscode.l10n.t('Show Them');
    const answer = await showWarningMessage(text, allowLabel, refuseLabel, showLabel);
    if (answer === showLabel) {
      // Once the user has read the settings, the question is asked again.
      this.askedKeys.delete(question.key);
      await vscode.commands.executeCommand('workbench.action.openWorkspaceSettingsFile');
      await this.askOnce(question, text);
    } else if (answer !== undefined) {
      await storedAnswers?.update(makeAnswerKey(question.key), answer === allowLabel);
      settingsChanged.fire();
    }
  }
}

function describeChoices({ profiles, prompts }: WorkspaceQuestion): string {
  const names = profiles.map(({ name, vendor, model }) => `${name} (${vendor}, ${model})`).join(', ');
  const sentences = [
    profiles.length > 0
      ? vscode.l10n.t(
          'The settings of this workspace would call {0} to condense conversations, which your own settings do not. This costs you money and sends conversations there.',
          names,
        )
      : vscode.l10n.t('The settings of this workspace contain passes with their own prompts for your models.'),
    ...(profiles.length > 0 && prompts.length > 0 ? [vscode.l10n.t('They also contain their own prompts.')] : []),
    vscode.l10n.t('Until you allow it, your own provider, passes, presets and strategy apply.'),
  ];
  return sentences.join(' ');
}

const describePrompt = (): string =>
  vscode.l10n.t(
    'The settings of this workspace contain their own prompt for summaries. Until you allow it, your own prompt applies.',
  );
