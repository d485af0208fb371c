"""Makes visits.csv: made-up visits of made-up people to made-up clinics, the same each time."""

import csv
import math
import random

random.seed(20)
with open("visits.csv", "w", newline="") as file:
    out = csv.writer(file)
    out.writerow(["person", "age", "pressure", "smoker", "returned"])
    for person in range(200):
        age = random.randint(18, 90)
        smoker = random.random() < 0.3
        for _ in range(random.randint(2, 8)):
            pressure = min(200, max(80, round(random.gauss(110 + 0.4 * age, 15))))
            score = 0.05 * (age - 55) + 0.03 * (pressure - 130) + (0.8 if smoker else -0.4)
            returned = random.random() < 1 / (1 + math.exp(-1.5 * score))
            out.writerow([person, age, pressure, "yes" if smoker else "no", "yes" if returned else "no"])
