import {
  DndContext,
  KeyboardSensor,
  MeasuringStrategy,
  PointerSensor,
  useSensor,
  useSensors,
  type Announcements,
  type UniqueIdentifier,
} from '@dnd-kit/core';
import { SortableContext, verticalListSortingStrategy } from '@dnd-kit/sortable';
import { useLayoutEffect, useRef, useState, type ReactNode } from 'react';
import { ProblemList } from '../../components/Problems';
import { t } from '../../l10n';
import { SearchablePlace, matchesQuery, useSearchQuery } from '../../state/search';
import { useRedoKey, useUndoKey } from '../../state/undoKey';
import { Button, LinkButton } from '../../ui';
import { detectClosestTitle, moveDraggedOneStep } from './dragging';
import { PassItem } from './PassItem';
import { usePasses } from './usePasses';

/** Pixels of movement that start a drag. */
const DRAG_DISTANCE_PIXELS = 4;

export function PassList({ name }: { readonly name: string }): ReactNode {
  const passes = usePasses(name);
  const { entries } = passes;
  useUndoKey(passes.undo);
  useRedoKey(passes.redo);
  const [openKey, setOpenKey] = useState<string>();
  const list = useRef<HTMLDivElement>(null);
  const addedKey = useRef<string>(undefined);
  // Focus the name of a new pass, so that keyboard users continue there.
  useLayoutEffect(() => {
    if (openKey === undefined || openKey !== addedKey.current) return;
    addedKey.current = undefined;
    list.current?.querySelector<HTMLElement>('.item-content vscode-text-field')?.focus();
  }, [openKey]);
  const sensors = useSensors(
    useSensor(PointerSensor, { activationConstraint: { distance: DRAG_DISTANCE_PIXELS } }),
    useSensor(KeyboardSensor, { coordinateGetter: moveDraggedOneStep }),
  );
  const getIndex = (key: UniqueIdentifier): number => entries.findIndex((entry) => entry.key === key);
  const getName = (key: UniqueIdentifier): string => entries[getIndex(key)]?.name ?? '';
  // A pass that is picked up is first over itself. Announcing that would interrupt the announcement
  // of the pick-up.
  const hasMoved = useRef(false);
  const announcements: Announcements = {
    onDragStart: ({ active }) => {
      hasMoved.current = false;
      return t('{0} picked up, position {1} of {2}.', getName(active.id), getIndex(active.id) + 1, entries.length);
    },
    onDragOver: ({ active, over }) => {
      if (!hasMoved.current && over?.id === active.id) return undefined;
      hasMoved.current = true;
      return over
        ? t('{0}, position {1} of {2}.', getName(active.id), getIndex(over.id) + 1, entries.length)
        : t('{0} is outside the list.', getName(active.id));
    },
    onDragEnd: ({ active, over }) =>
      over
        ? t('{0} dropped at position {1} of {2}.', getName(active.id), getIndex(over.id) + 1, entries.length)
        : t('{0} dropped where it was.', getName(active.id)),
    onDragCancel: ({ active }) => t('{0} stays where it was.', getName(active.id)),
  };
  const query = useSearchQuery();
  const listSearchTexts = [t('Passes'), t('Add pass'), 'pass list order drag move duplicate delete'];
  const isListFound = query === '' || matchesQuery(query, listSearchTexts);
  return (
    <div ref={list} className="passes" data-setting={isListFound ? `${name}.passes` : undefined}>
      <DndContext
        sensors={sensors}
        collisionDetection={detectClosestTitle}
        // Without this, a picked-up pass jumps to its last drag position.
        measuring={{ droppable: { strategy: MeasuringStrategy.Always } }}
        accessibility={{ announcements, screenReaderInstructions: { draggable: describeDragging() } }}
        onDragEnd={({ active, over }) => {
          if (over) void passes.move(getIndex(active.id), getIndex(over.id));
        }}
      >
        <SortableContext items={entries.map(({ key }) => key)} strategy={verticalListSortingStrategy}>
          <ol className="items">
            {entries.map((entry) => (
              <PassItem
                key={entry.key}
                name={name}
                entry={entry}
                count={entries.length}
                passes={passes}
                isOpen={openKey === entry.key}
                isListFound={isListFound}
                onToggle={() => {
                  setOpenKey(openKey === entry.key ? undefined : entry.key);
                }}
              />
            ))}
          </ol>
        </SortableContext>
      </DndContext>
      <SearchablePlace id={`${name}.addPass`} searchTexts={listSearchTexts}>
        <p className="actions">
          <Button
            icon="add"
            onClick={() => {
              addedKey.current = passes.add();
              setOpenKey(addedKey.current);
            }}
          >
            {t('Add pass')}
          </Button>
          <span role="status" className="done">
            {passes.done && (
              <>
                {passes.done.text} <LinkButton onClick={passes.done.undo}>{t('Undo')}</LinkButton>
              </>
            )}
          </span>
        </p>
      </SearchablePlace>
      <ProblemList problems={passes.problems} />
    </div>
  );
}

const describeDragging = (): string =>
  t('Press Space to pick the pass up, the arrow keys to move it, Space to drop it, Escape to leave it where it was.');
