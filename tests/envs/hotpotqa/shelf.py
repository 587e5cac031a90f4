"""A wiki of a dozen invented pages, and questions about them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

from textcraft_gym.envs.hotpotqa.wiki.corpus import Corpus, Page, Question

PAGES = (
    Page(
        "Harrow Vale",
        (
            (
                "Harrow Vale is a film of 1974.",
                " It was directed by Ines Calder.",
                " The film was shot in Port Lamby.",
                " It lasts 94 minutes.",
                " Critics praised its light.",
                " A restored print was shown in 2003.",
                " The music is by Tobin Aske.",
            ),
        ),
    ),
    Page(
        "Ines Calder",
        (("Ines Calder was a director.", " She was born in Quill Bay in 1931."), ("See also",)),
    ),
    Page("Tobin Aske", (("Tobin Aske (1940 to 1999) was a composer.", " He grew up in Sarn."),)),
    Page(
        "Quill Bay",
        (("Quill Bay is a town on the coast of Nortmark.", " It has 4,100 inhabitants."),),
    ),
    Page("Port Lamby", (("Port Lamby is a port without a full stop",),)),
    Page(
        "Mercer", (("Mercer may refer to:", " Mercer (band)", " Mercer (film)", " Élodie Mercer"),)
    ),
    Page("Mercer (band)", (("Mercer are a band from Sarn.", " They were formed in 1988."),)),
    Page("Mercer (film)", (("Mercer is a film of 1991.", " It was directed by Élodie Mercer."),)),
    Page("Élodie Mercer", (("Élodie Mercer is a director.", " She was born in Sarn in 1950."),)),
    Page(
        "Sarn",
        (
            ("Sarn is a village.", " It lies on the river Ode."),
            ("Its fair is held in May.\nIt is old.",),
        ),
    ),
    Page(
        "finish[yes]", (("finish[yes] is an album of the band Mercer.", " It came out in 1990."),)
    ),
    Page("The Lantern", (("The Lantern is a newspaper.", " It was founded in 1850."),)),
    Page("The Beacon", (("The Beacon is a newspaper.", " It was founded in 1861."),)),
)
REDIRECTS = {"Tobias Aske": "Tobin Aske"}


def ask(
    id: str, question: str, answer: str, kind: str, level: str, *gold: tuple[str, int]
) -> Question:
    titles = dict.fromkeys([title for title, _ in gold] + ["Sarn", "Mercer"])
    return Question(id, question, answer, kind, level, gold, tuple(titles))


BORN = ask(
    "q1", "In which town was the director of Harrow Vale born?", "Quill Bay", "bridge", "easy",
    ("Harrow Vale", 1), ("Ines Calder", 1),
)  # fmt: skip
MUSIC = ask(
    "q2", "Where did the composer of the music of the film Harrow Vale grow up?", "Sarn", "bridge", "hard",
    ("Harrow Vale", 6), ("Tobin Aske", 1),
)  # fmt: skip
OLDER = ask(
    "q3", "Which newspaper was founded first, The Lantern or The Beacon?", "The Lantern", "comparison", "medium",
    ("The Lantern", 1), ("The Beacon", 1),
)  # fmt: skip
BOTH = ask(
    "q4", "Are Harrow Vale and Mercer (film) both films?", "yes", "comparison", "easy",
    ("Harrow Vale", 0), ("Mercer (film)", 0),
)  # fmt: skip
ALBUM = ask(
    "q5", "From which village is the band whose album finish[yes] came out in 1990?", "Sarn", "bridge", "medium",
    ("finish[yes]", 0), ("Mercer (band)", 0),
)  # fmt: skip
BIRTH = ask(
    "q6", "In which year was the director of the film Mercer of 1991 born?", "1950", "bridge", "hard",
    ("Mercer (film)", 1), ("Élodie Mercer", 1),
)  # fmt: skip
UNTOLD = ask(
    "q7", "Who edits The Lantern, the newspaper that was founded in 1850?", "", "bridge", "hard"
)
SPLITS = {
    "train": (BORN, OLDER, ALBUM),
    "dev": (
        MUSIC,
        BOTH,
        BIRTH,
        BORN._replace(id="q8"),
        OLDER._replace(id="q9"),
        ALBUM._replace(id="q10"),
    ),
    "test": (BIRTH._replace(id="q11"), UNTOLD),
}


class Shelf:
    """Pages in memory, searched by the number of common words, ties in the order of the pages."""

    def __init__(self, pages: Sequence[Page] = PAGES) -> None:
        self.pages = {page.title: page for page in pages}
        self._lower = {title.lower(): title for title in reversed(self.pages)}
        self._bare = {title.partition(" (")[0].lower(): title for title in reversed(self.pages)}

    def __len__(self) -> int:
        return len(self.pages)

    def __iter__(self) -> Iterator[str]:
        return iter(self.pages)

    @property
    def fingerprint(self) -> str:
        return hashlib.sha256(repr(self.pages).encode()).hexdigest()

    def page(self, title: str) -> Page | None:
        return self.pages.get(title)

    def find(self, entity: str) -> Page | None:
        lower = entity.lower()
        title = REDIRECTS.get(entity) or self._lower.get(lower) or self._bare.get(lower)
        return self.pages.get(entity) or self.pages.get(title or "")

    def similar(
        self, entity: str, count: int = 5, *, among: Sequence[str] | None = None
    ) -> list[str]:
        wanted = set(_words(entity))
        scores = {
            title: len(wanted & set(_words(_text(self.pages[title]))))
            for title in among or self.pages
        }
        return sorted(
            (title for title in scores if scores[title]), key=lambda title: -scores[title]
        )[:count]


CORPUS = Corpus(Shelf(), SPLITS)


def _text(page: Page) -> str:
    return " ".join([page.title, *(part for paragraph in page.paragraphs for part in paragraph)])


def _words(text: str) -> list[str]:
    return "".join(letter if letter.isalnum() else " " for letter in text.lower()).split()
