import type { ReactNode } from 'react';

export interface Column<Row> {
  readonly title: string;
  readonly cell: (row: Row) => ReactNode;
  /** Set at the end, so that digits stand below each other. */
  readonly isNumber?: boolean;
}

interface TableProps<Row> {
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row, index: number) => string;
}

/** A table that scrolls in itself where it is too wide or too long; the first cell of a row names it. */
export function Table<Row>({ label, columns, rows, keyOf }: TableProps<Row>): ReactNode {
  const [first, ...others] = columns;
  return (
    <div className="table-frame" tabIndex={0} role="region" aria-label={label}>
      <table className="table">
        <thead>
          <tr>
            {columns.map(({ title, isNumber = false }) => (
              <th key={title} scope="col" className={classOf(isNumber)}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, index) => (
            <tr key={keyOf(row, index)}>
              {first && <th scope="row">{first.cell(row)}</th>}
              {others.map(({ title, cell, isNumber = false }) => (
                <td key={title} className={classOf(isNumber)}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const classOf = (isNumber: boolean): string | undefined => (isNumber ? 'number' : undefined);
