// The archive of a run as the server sends it, kept up to date by changes.

import { get, runPath, type Measure } from "./api";

export interface Offer {
  key: string;
  label: string;
}

interface Head {
  source: "live" | "checkpoint" | "history";
  generation: string;
  frame: number;
  whole: boolean;
  iteration: number;
  minimise: boolean;
  objective: string;
  kind: "grid" | "centroids" | "points";
  resolution: number[];
  n_cells: number;
  measures: Measure[];
  n_rows: number;
  n_centroids: number;
  columns: string[];
}

export type ArchiveName = "result" | "search";

export class Archive {
  head: Head | null = null;
  nElites = 0;
  cells = new Uint32Array(0);
  columns = new Map<string, Float64Array>();
  centroids = new Float64Array(0);
  // The elite of each cell; made when somebody asks for one, because it takes longer than all the rest.
  private known: Map<number, number> | null = null;
  // An answer that is on its way.
  private coming: Promise<Response> | null = null;

  constructor(
    readonly run: string,
    readonly name: ArchiveName,
    readonly wanted: string[],
    // The iteration of a moment of the past; none for now.
    readonly at: number | null = null,
  ) {}

  // Asks already, so that the answer is there, or on its way, when it is needed.
  prepare() {
    this.coming = this.ask();
    // Whoever updates hears of a failure.
    this.coming.catch(() => {});
  }

  // Fetches what has changed; says whether anything has.
  async update(): Promise<boolean> {
    // The past does not change.
    if (this.at !== null && this.head) return false;
    const answer = this.coming ?? this.ask();
    this.coming = null;
    const response = await answer;
    if (response.status === 304) return false;
    const buffer = await response.arrayBuffer();
    if (buffer.byteLength < 8) return false;
    return this.apply(buffer);
  }

  private ask(): Promise<Response> {
    const query = new URLSearchParams({ archive: this.name, columns: this.wanted.join(",") });
    if (this.at !== null) query.set("at", String(this.at));
    if (this.head) {
      query.set("generation", this.head.generation);
      query.set("frame", String(this.head.frame));
    }
    return get(`${runPath(this.run)}/cells?${query}`);
  }

  elite(cell: number): number | undefined {
    return this.places().get(cell);
  }

  private places(): Map<number, number> {
    if (!this.known) {
      this.known = new Map();
      for (let i = 0; i < this.nElites; i++) this.known.set(this.cells[i], i);
    }
    return this.known;
  }

  column(key: string): Float64Array {
    return (this.columns.get(key) ?? new Float64Array(0)).subarray(0, this.nElites);
  }

  private apply(buffer: ArrayBuffer): boolean {
    const length = new DataView(buffer).getUint32(0, true);
    const head: Head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
    const nCoordinates = head.n_centroids * head.measures.length;
    const n = head.n_rows;
    let at = 4 + length;
    const centroids = new Float64Array(buffer, at, nCoordinates);
    at += 8 * nCoordinates;
    const cells = new Uint32Array(buffer, at, n);
    at += 8 * Math.ceil(n / 2);
    const columns = head.columns.map((_, i) => new Float64Array(buffer, at + 8 * n * i, n));
    if (head.whole) {
      this.nElites = n;
      this.cells = cells;
      this.centroids = centroids;
      this.columns = new Map(head.columns.map((key, i) => [key, columns[i]]));
      this.known = null;
    } else {
      this.merge(head, cells, columns);
    }
    this.head = head;
    return head.whole || n > 0;
  }

  private merge(head: Head, cells: Uint32Array, columns: Float64Array[]) {
    this.reserve(this.nElites + cells.length);
    const places = this.places();
    const targets = head.columns.map((key) => this.columns.get(key));
    for (let i = 0; i < cells.length; i++) {
      let place = places.get(cells[i]);
      if (place === undefined) {
        place = this.nElites++;
        places.set(cells[i], place);
        this.cells[place] = cells[i];
      }
      for (let k = 0; k < columns.length; k++) {
        const target = targets[k];
        if (target) target[place] = columns[k][i];
      }
    }
  }

  // Makes room for this many elites.
  private reserve(n: number) {
    if (n <= this.cells.length) return;
    const room = Math.max(n, 2 * this.cells.length, 64);
    const cells = new Uint32Array(room);
    cells.set(this.cells);
    this.cells = cells;
    for (const [key, values] of this.columns) {
      const longer = new Float64Array(room);
      longer.set(values);
      this.columns.set(key, longer);
    }
  }
}
