/** Answers the panel's requests about previews; slow ones in a worker. */
import * as vscode from 'vscode';
import { getEngineBundle } from '../../window/background';
import { getSamplePath } from '../../window/samplePath';
import { PreviewThread } from '../../engine/previewThread';
import type { ConversationSource } from '../../background/preview/messages';
import type { StepReport } from '../../core/condense/types';
import type { PanelDependencies } from '../parts';
import type { RequestHandlers } from '../requestHandlers';
import type { PanelSettings } from '../panelSettings';
import type { PreviewedConversationName, PassDrafts, previewMethods } from './methods';
import { PreviewFollower } from './previewFollower';

type PreviewRequestHandlers = Pick<RequestHandlers, keyof typeof previewMethods>;
type Configuration = Parameters<ReturnType<PanelDependencies['commands']>['readPreviewSetup']>[1];
type ResolvedConversationName = Exclude<PreviewedConversationName, { kind: 'default' }>;

export class PreviewHandlers implements vscode.Disposable {
  private readonly previews: PreviewThread;
  /** Comparisons take seconds, so they have a thread of their own. */
  readonly comparisons: PreviewThread;
  private readonly follower: PreviewFollower;
  private subscription: vscode.Disposable | undefined;
  /**
   * Path of the stored conversation that was newest when the panel searched. A newer one doesn't
   * change it.
   */
  private stored: string | undefined;
  private finding: Promise<void> | undefined;

  /** @param onChanged tells the page that the conversation has changed */
  constructor(
    private readonly dependencies: PanelDependencies,
    private readonly settings: Pick<PanelSettings, 'applyPassDrafts'>,
    onChanged: () => void,
  ) {
    this.follower = new PreviewFollower({
      now: (name) => this.commands.resolveConversation(this.services, this.resolveName(name)),
      onChange: onChanged,
    });
    const bundle = getEngineBundle(dependencies.services);
    const describeEnd = (reason: string): string =>
      vscode.l10n.t(
        'The preview’s worker ended ({0}). Nothing was changed. Try again, or choose another conversation.',
        reason,
      );
    this.previews = new PreviewThread({ bundle, ended: describeEnd });
    this.comparisons = new PreviewThread({ bundle, ended: describeEnd });
  }

  dispose(): void {
    this.endFollowing();
    this.comparisons.endThread();
  }

  private endFollowing(): void {
    this.follower.endFollowing();
    this.subscription?.dispose();
    this.subscription = undefined;
    this.previews.endThread();
  }

  readonly handlers: PreviewRequestHandlers = {
    chooseConversation: async () => {
      const conversation = await this.commands.chooseConversation(this.services);
      return conversation ? { conversation } : {};
    },
    preview: async ({ conversation, drafts, excluded, pinned }, signal) => {
      const name = await this.findConversation(conversation);
      const question = {
        ...(await this.makePreviewQuestion(name, this.resolveConfiguration(drafts))),
        excluded,
        ...(pinned && { pinned }),
      };
      const preview = await this.answerAndFollow(conversation, question.conversation, () =>
        this.previews.askPreviewQuestion({ kind: 'preview', ...question }, signal),
      );
      const { steps, cells, edits, pinned: pins, savedPins, notes } = preview;
      return {
        ...preview,
        conversation: name,
        isSample: name.kind === 'file' && name.path === getSamplePath(this.services.context.extensionPath),
        steps: steps.map(toPreviewStep),
        cells: [...cells],
        edits: [...edits],
        pinned: [...pins],
        savedPins: [...savedPins],
        notes: [...notes],
      };
    },
    previewCoherence: async ({ conversation, drafts, excluded, pinned }, signal) => {
      const question = await this.makePreviewQuestion(
        await this.findConversation(conversation),
        this.resolveConfiguration(drafts),
      );
      return this.previews.askPreviewQuestion(
        { kind: 'coherence', ...question, excluded, ...(pinned && { pinned }) },
        signal,
      );
    },
    showPreviewDiff: async ({ conversation, drafts, excluded, pinned }, signal) => {
      const question = await this.makePreviewQuestion(
        await this.findConversation(conversation),
        this.resolveConfiguration(drafts),
      );
      const diffTexts = await this.previews.askPreviewQuestion(
        { kind: 'texts', ...question, excluded, ...(pinned && { pinned }) },
        signal,
      );
      const { comparisons } = this.services;
      await comparisons.showComparison(comparisons.addComparison({ ...diffTexts, isPreview: true }));
      return null;
    },
    previewSelection: async ({ conversation, drafts, pass }, signal) => {
      const question = await this.makePreviewQuestion(
        await this.findConversation(conversation),
        this.resolveConfiguration(drafts),
      );
      const { title, taken } = await this.answerAndFollow(conversation, question.conversation, () =>
        this.previews.askPreviewQuestion({ kind: 'selection', ...question, pass }, signal),
      );
      return { title, taken: [...taken] };
    },
    previewPass: async ({ conversation, drafts, pass }, signal) => {
      const question = await this.makePreviewQuestion(
        await this.findConversation(conversation),
        this.resolveConfiguration(drafts),
      );
      const { title, steps } = await this.answerAndFollow(conversation, question.conversation, () =>
        this.previews.askPreviewQuestion({ kind: 'pass', ...question, pass }, signal),
      );
      return { title, steps: steps.map(toPreviewStep) };
    },
    compare: async ({ conversation, configuration }, signal) => {
      const question = await this.makePreviewQuestion(await this.findConversation(conversation), configuration);
      return this.comparisons.askPreviewQuestion({ kind: 'compare', ...question }, signal);
    },
    savePins: async ({ conversation, pinned }) => {
      await this.commands.saveConversationPins(this.services, this.resolveName(conversation), pinned);
      return null;
    },
    condenseChosen: async ({ conversation, pinned, excluded }) => {
      await this.commands.condenseChosenConversation(this.services, this.resolveName(conversation), pinned, excluded);
      return null;
    },
    endPreview: () => {
      // The estimate for an open pass uses the same worker, which ends by itself some time after
      // its answer.
      if (!this.previews.isAsked) this.endFollowing();
      return Promise.resolve(null);
    },
  };

  private get services(): PanelDependencies['services'] {
    return this.dependencies.services;
  }

  private get commands(): ReturnType<PanelDependencies['commands']> {
    return this.dependencies.commands();
  }

  private async answerAndFollow<T>(
    name: PreviewedConversationName,
    conversation: ConversationSource,
    answer: () => Promise<T>,
  ): Promise<T> {
    this.subscription ??= this.commands.subscribeToLiveChanges(this.services, () => {
      this.follower.reportIfConversationChanged();
    });
    const endAnswer = this.follower.followConversation(name, conversation);
    try {
      return await answer();
    } finally {
      endAnswer();
    }
  }

  private resolveName(conversation: PreviewedConversationName): ResolvedConversationName {
    return conversation.kind === 'default'
      ? this.commands.getDefaultConversation(this.services, this.stored)
      : conversation;
  }

  private async findConversation(conversation: PreviewedConversationName): Promise<ResolvedConversationName> {
    if (conversation.kind === 'default' && this.resolveName(conversation).kind === 'file') {
      this.finding ??= this.commands.findOwnConversation(this.services).then((path) => {
        this.stored = path;
      });
      await this.finding;
    }
    return this.resolveName(conversation);
  }

  private resolveConfiguration(drafts: PassDrafts | undefined): Configuration {
    return drafts ? { kind: 'smart', config: this.settings.applyPassDrafts(drafts) } : { kind: 'current' };
  }

  private async makePreviewQuestion(
    name: ResolvedConversationName,
    configuration: Configuration,
  ): Promise<{
    conversation: ConversationSource;
    setup: Awaited<ReturnType<ReturnType<PanelDependencies['commands']>['readPreviewSetup']>>;
  }> {
    await this.commands.loadLiveView(this.services, name);
    const conversation = this.commands.resolveConversation(this.services, name);
    return { conversation, setup: await this.commands.readPreviewSetup(this.services, configuration) };
  }
}

const toPreviewStep = ({ cost, ...step }: StepReport) => ({ ...step, ...(cost !== undefined && { cost }) });
