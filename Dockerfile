# The command line of textcraft_gym. Runs are written below /runs:
#   docker build --tag textcraft-gym .
#   docker run --rm --volume "$PWD/runs:/runs" textcraft-gym evaluate --env TextCraft-v0 --agent expert --out expert
#   docker run --rm --interactive --tty textcraft-gym play TextCraft-v0
#   docker run --rm --publish 36001:36001 textcraft-gym serve agentgym --env textcraft --host 0.0.0.0
ARG PYTHON=3.12

FROM python:${PYTHON}-slim AS build
WORKDIR /source
COPY setup.cfg pyproject.toml README.md LICENSE ./
COPY textcraft_gym textcraft_gym
COPY agents agents
COPY recipes recipes
COPY wrappers wrappers
RUN pip wheel --no-cache-dir --no-deps --wheel-dir dist .

FROM python:${PYTHON}-slim
WORKDIR /install
COPY --from=build /source/dist dist
ARG EXTRAS=cli,hotpotqa,openai,report,serve,webshop
RUN pip install --no-cache-dir "$(ls dist/*.whl)[$EXTRAS]"
WORKDIR /runs
RUN chmod 777 .
# Any user may run it; one without a home keeps the cache here.
ENV TEXTCRAFT_GYM_CACHE=/tmp/textcraft_gym
USER 1000:1000
ENTRYPOINT ["textcraft-gym"]
CMD ["--help"]
